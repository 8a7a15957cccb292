package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// registering has the node of Kuma's sidecar state the Dataplane with which it registered.
func registering(resource string) edit {
	return put(kumaNode+".metadata", fmt.Sprintf(`{"ipv6Enabled": false, "dataplane.resource": %q}`, resource))
}

// registeredText is the Dataplane of the example.
const registeredText = "type: Dataplane\nmesh: default\nname: dp\nlabels: {app: backend}\nnetworking: {address: 10.0.0.7, inbound: [{name: http-port, port: 8080, protocol: http}, {port: 6379, protocol: tcp}]}\n"

// A sidecar on universal registers a Dataplane of its own. The one beside the policies may be an older copy, which other policies select.
func TestRegisteredDataplane(t *testing.T) {
	t.Parallel()
	const (
		head   = "type: Dataplane\nmesh: default\nname: dp\n"
		labels = "labels: {kuma.io/zone: zone-1, kuma.io/origin: zone, k8s.kuma.io/namespace: ns-1, app: backend}\n"
		place  = "networking: {address: 10.0.0.7, inbound: [{name: http-port, port: 8080, protocol: http}, {port: 6379, protocol: tcp}]}\n"
	)
	for name, tt := range map[string]struct {
		want     outcome
		resource string
	}{
		"the same":                      {verified, head + labels + place},
		"without what Kuma computes":    {verified, head + "labels: {app: backend}\n" + place},
		"another label":                 {verified, head + "labels: {app: backend, tier: web}\n" + place},
		"as JSON":                       {verified, `{"type": "Dataplane", "mesh": "default", "name": "dp", "labels": {"app": "backend"}, "networking": {"address": "10.0.0.7", "inbound": [{"name": "http-port", "port": 8080}, {"port": 6379}]}}`},
		"another value of a label":      {unverified, head + "labels: {app: payments}\n" + place},
		"another label of Kuma":         {verified, head + "labels: {kuma.io/workload: w, app: backend}\n" + place},
		"without a label":               {unverified, head + place},
		"another name of an inbound":    {unverified, head + labels + "networking: {address: 10.0.0.7, inbound: [{name: other, port: 8080, protocol: http}, {port: 6379, protocol: tcp}]}\n"},
		"without one of its inbounds":   {unverified, head + labels + "networking: {address: 10.0.0.7, inbound: [{name: http-port, port: 8080, protocol: http}]}\n"},
		"two Dataplanes":                {unverified, head + labels + place + "---\n" + head + labels + place},
		"something else":                {unverified, "type: Mesh\nname: default\n"},
		"a field that no Dataplane has": {unverified, head + labels + place + "later: 1\n"},
		"nothing":                       {unverified, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matched(t, kumaBootstrap, kumaClusters, registering(tt.resource))
			if got := outcomeOf(v); got != tt.want {
				t.Errorf("%s, want %s: %q", got, tt.want, lines(v.Unverified))
			}
		})
	}
	t.Run("no text", func(t *testing.T) {
		t.Parallel()
		if got := outcomeOf(matched(t, kumaBootstrap, kumaClusters, put(kumaNode+".metadata", `{"dataplane.resource": {}}`))); got != unverified {
			t.Errorf("%s, want %s", got, unverified)
		}
	})
}

// Flags describe the workload where no Dataplane stands beside the policies, and the one that the node states counts all the same.
func TestRegisteredBesideFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile("../../examples/sidecar/policies/mtp.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mtp.yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Inbound{Name: "http-port", Port: 8080, Protocol: policy.HTTP, Workload: policy.Workload{Mesh: "default", Name: "dp", Namespace: "ns-1", Zone: "zone-1", Origin: "zone", Labels: map[string]string{"app": "backend"}}}
	all, err := files.CasesFor(lab.Surroundings{Options: language.Options{TrustDomain: spiffeid.RequireTrustDomainFromString("default.zone-1.mesh.local")}}, [][]policy.Inbound{{in}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{registeredText: false, strings.Replace(registeredText, "backend", "payments", 1): true} {
		v := matchedDump(t, all, files, "", exampleDump(t), kumaBootstrap, kumaClusters, registering(text), completed)
		if got := strings.Contains(strings.Join(lines(v.Unverified), "\n"), "for port 8080 than what describes"); got != want {
			t.Errorf("%s: %q", text, lines(v.Unverified))
		}
	}
}
