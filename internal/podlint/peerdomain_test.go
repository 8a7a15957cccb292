package podlint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/podlint"
	"github.com/meshproof/meshproof/policy/language"
)

// TestPeerDomains has policies that name callers of a trust domain which is almost that of others.
func TestPeerDomains(t *testing.T) {
	t.Parallel()
	kuma := func(domains ...string) string {
		var all []string
		for i, domain := range domains {
			all = append(all, fmt.Sprintf("{type: MeshTrafficPermission, name: p%d, spec: {rules: [{default: {deny: [{spiffeID: {type: Prefix, value: 'spiffe://%s/ns/a/'}}]}}]}}\n", i, domain))
		}
		return strings.Join(all, "---\n")
	}
	istio := func(principals string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{from: [{source: {principals: [" + principals + "]}}]}]}}\n"
	}
	const dataplane = "---\n{type: Dataplane, mesh: default, name: web, networking: {address: 10.0.0.1, inbound: [{port: 8080, tags: {kuma.io/service: web}}]}}\n"
	for name, tt := range map[string]struct{ text, want string }{
		"two letters exchanged":            {kuma("default.mesh", "defualt.mesh", "default.mesh"), "p.yaml:3: spec.rules[0].default.deny[0].spiffeID.value: the trust domain defualt.mesh differs from default.mesh in one letter: is that meant? [no-peer]"},
		"beside a Dataplane":               {kuma("default.mesh", "defualt.mesh", "default.mesh") + dataplane, "the trust domain defualt.mesh differs "},
		"a letter is missing":              {kuma("default.mesh", "default.msh", "default.mesh"), "the trust domain default.msh differs "},
		"a letter too many":                {kuma("default.mesh", "default.messh", "default.mesh"), "the trust domain default.messh differs "},
		"that of Istio":                    {istio("cluster.loacl/ns/a/sa/b"), "the trust domain cluster.loacl differs from cluster.local "},
		"that of Istio, before a star":     {istio("cluster.locl/ns/a/*"), "the trust domain cluster.locl differs from cluster.local "},
		"another letter":                   {kuma("mesh-a.org", "mesh-b.org", "mesh-a.org"), ""},
		"another number":                   {kuma("mesh.org", "mesh1.org", "mesh.org"), ""},
		"a letter in front":                {kuma("mesh.org", "amesh.org", "mesh.org"), ""},
		"two slips":                        {kuma("default.mesh", "defualt.msh", "default.mesh"), ""},
		"both in one policy":               {istio("cluster.loacl/ns/a/sa/b, cluster.local/ns/a/sa/b"), ""},
		"each in one policy":               {kuma("default.mesh", "defualt.mesh"), ""},
		"the usual one":                    {istio("cluster.local/ns/a/sa/b"), ""},
		"a pattern that has no namespace":  {istio("'*/sa/b'"), ""},
		"a short name with a letter more":  {kuma("td", "tda", "td"), ""},
		"a trust domain that is like none": {kuma("default.mesh", "partner.example", "default.mesh"), ""},
		"no callers":                       {"{type: MeshTrafficPermission, name: p, spec: {rules: []}}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkWarnings(t, tt.text, tt.want)
		})
	}
}

// TestStatedDomain has one policy, and the trust domain of the mesh by a flag.
func TestStatedDomain(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "p.yaml")
	text := "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {deny: [{spiffeID: {type: Prefix, value: 'spiffe://defualt.mesh/ns/a/'}}]}}]}}\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := lab.Open(lab.Choice{}, name)
	if err != nil {
		t.Fatal(err)
	}
	for stated, want := range map[string]int{"default.mesh": 1, "defualt.mesh": 0, "other.mesh": 0} {
		s := lab.Surroundings{Options: language.Options{TrustDomain: spiffeid.RequireTrustDomainFromString(stated)}}
		if found := podlint.Warn(files, s); len(found) != want {
			t.Errorf("%s: %v", stated, found)
		}
	}
}
