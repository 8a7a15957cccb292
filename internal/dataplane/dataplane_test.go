package dataplane_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy/manifest"
)

func document(t *testing.T, text string) manifest.Document {
	t.Helper()
	docs, err := manifest.Parse("dp.yaml", []byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	return docs[0]
}

// Both forms say the same: who the workload is, where it listens, and what policies
// select it by.
func TestParse(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"universal": `
type: Dataplane
mesh: prod
name: backend
labels: {kuma.io/zone: east, k8s.kuma.io/namespace: shop, app: backend}
networking: {address: 10.0.0.7, inbound: [{name: api, port: 8080, protocol: http}, {port: 5432, tags: {kuma.io/service: db}}]}
`,
		"Kubernetes": `
apiVersion: kuma.io/v1alpha1
kind: Dataplane
mesh: prod
metadata: {name: backend, namespace: shop, labels: {kuma.io/zone: east, app: backend}}
spec: {networking: {address: 10.0.0.7, inbound: [{name: api, port: 8080, tags: {kuma.io/protocol: http}}, {port: 5432, tags: {kuma.io/service: db}}]}}
`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := document(t, text)
			if !dataplane.Owns(doc) {
				t.Fatal("the package does not own it")
			}
			d, err := dataplane.Parse(doc)
			if err != nil {
				t.Fatal(err)
			}
			if got := d.ID().String(); got != "kri_dp_prod_east_shop_backend_" || d.Workload.Labels["app"] != "backend" || !strings.HasPrefix(d.Place, "dp.yaml:") {
				t.Errorf("it is %s at %s: %+v", got, d.Place, d.Workload)
			}
			var inbounds, addresses []string
			for i, in := range d.Inbounds {
				inbounds = append(inbounds, in.String()+" "+in.Protocol.String())
				addresses = append(addresses, d.Addresses[i].String())
			}
			if diff := cmp.Diff([]string{"backend/api http", "backend/5432 tcp"}, inbounds); diff != "" {
				t.Errorf("inbounds (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"10.0.0.7", "10.0.0.7"}, addresses); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{type: Dataplane}": "dp.yaml:1: name: a name is required",
		"{type: Dataplane, name: a, networking: {inbound: [{name: x}]}}":                                   "networking.inbound[0].port: the inbound has no port",
		"{type: Dataplane, name: a, networking: {inbound: [{port: 1}, {port: 1}]}}":                        "networking.inbound[1]: inbound a/1 appears twice",
		"{type: Dataplane, name: a, networking: {inbound: [{port: 1, protocol: smtp}]}}":                   `protocol "smtp" is unknown`,
		"{type: Dataplane, name: a, mesh: b, labels: {kuma.io/mesh: c}}":                                   `"c" contradicts mesh "b"`,
		"{apiVersion: kuma.io/v1, kind: Dataplane, metadata: {name: a}}":                                   `version "kuma.io/v1" is not supported`,
		"{type: Dataplane, name: a, networkin: {}}":                                                        "networkin: unknown field",
		"{type: Dataplane, name: a, labels: {kuma.io/origin: mars}}":                                       `"mars" is unknown: use global, zone`,
		"{type: Dataplane, name: a, networking: {inbound: [{port: 1, tags: {kuma.io/protocol: gopher}}]}}": `protocol "gopher" is unknown`,
	} {
		if _, err := dataplane.Parse(document(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	if dataplane.Owns(document(t, "{type: MeshTrafficPermission, name: a}")) {
		t.Error("it takes a policy for a Dataplane")
	}
}

// TestMachine reads the addresses of the machine as a whole, and what stands in their place.
func TestMachine(t *testing.T) {
	t.Parallel()
	for networking, want := range map[string]struct{ addresses, names []string }{
		"address: 10.0.0.7, inbound: [{port: 80}]":                                    {[]string{"10.0.0.7"}, nil},
		"address: 10.0.0.7, advertisedAddress: '2001:db8::7', inbound: [{port: 80}]":  {[]string{"10.0.0.7", "2001:db8::7"}, nil},
		"address: 10.0.0.7, advertisedAddress: db.example, inbound: [{port: 80}]":     {[]string{"10.0.0.7"}, []string{"db.example"}},
		"address: 10.0.0.7, advertisedAddress: 'fe80::7%eth0', inbound: [{port: 80}]": {[]string{"10.0.0.7"}, []string{"fe80::7%eth0"}},
		"address: db.example, inbound: [{port: 80}]":                                  {nil, nil},
		"address: db.example, inbound: [{port: 80, address: 10.0.0.7}]":               {nil, []string{"db.example"}},
		"address: db.example, inbound: [{port: 80, address: 10.0.0.7}, {port: 81}]":   {nil, nil},
		"inbound: [{port: 80, address: 10.0.0.7}]":                                    {nil, nil},
	} {
		d, err := dataplane.Parse(document(t, "{type: Dataplane, mesh: default, name: dp, networking: {"+networking+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		var addresses []string
		for _, address := range d.Machine {
			addresses = append(addresses, address.String())
		}
		if !cmp.Equal(addresses, want.addresses) || !cmp.Equal(d.HostNames, want.names) {
			t.Errorf("%s: %q and %q, want %q and %q", networking, addresses, d.HostNames, want.addresses, want.names)
		}
	}
}
