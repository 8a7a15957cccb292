package routeproof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/policy"
)

// What no request of a proof is about is named as not asked, also where it is for one workload of several.
func TestWhatIsNotAsked(t *testing.T) {
	t.Parallel()
	const all = `{type: Dataplane, mesh: default, name: a, labels: {app: a}, networking: {address: 10.0.0.1, NETWORK inbound: [{name: main, port: 8080, tags: {kuma.io/service: a, kuma.io/protocol: http}}SECOND]}}
---
{type: Dataplane, mesh: default, name: b, labels: {app: b}, networking: {address: 10.0.0.2, inbound: [{name: main, port: 8080, tags: {kuma.io/service: b, kuma.io/protocol: http}}]}}
---
{type: MeshService, name: b, spec: {selector: {dataplaneTags: {kuma.io/service: b}}, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}}
---
{type: KIND, name: r, mesh: default, spec: {TARGET to: [{targetRef: {kind: MeshService, name: TO}, rules: [{MATCH default: {backendRefs: [{kind: MeshService, name: b}]}}]}]}}
EXTRA`
	second := func(name, zone string) string {
		return strings.NewReplacer("NAME", name, "ZONE", zone).Replace("{type: MeshService, name: NAME, labels: {kuma.io/zone: 'ZONE'}, spec: {selector: {dataplaneTags: {kuma.io/service: b}}, ports: [{name: http, port: 80, targetPort: 8080, appProtocol: http}]}}\n")
	}
	timeout := func(name, target string) string {
		return "{type: MeshTimeout, name: " + name + ", spec: {targetRef: " + target + ", to: [{targetRef: {kind: MeshService, name: b}, default: {http: {requestTimeout: 1s}}}]}}\n"
	}
	for name, tt := range map[string]struct {
		pairs           []string
		unasked, warned string
	}{
		"all is asked":                         {nil, "", ""},
		"a service is missing for one of two":  {[]string{"TO", "none", "TARGET", "targetRef: {kind: Dataplane, labels: {app: b}},"}, `there is no MeshService "none" among the documents`, ""},
		"a path that the lab cannot send":      {[]string{"MATCH", "matches: [{path: {type: Exact, value: /ä}}],"}, "the lab cannot send the requests that take it: path /ä", ""},
		"a rule that no request takes":         {[]string{"MATCH", "matches: [{queryParams: [{name: v, type: Exact, value: 'a b'}]}],"}, "", "no request of any workload takes this rule"},
		"connections to a port of requests":    {[]string{"KIND", "MeshTCPRoute", "MATCH", ""}, "on which no MeshTCPRoute is proven", ""},
		"inbounds of one workload differ":      {[]string{"SECOND", ", {name: second, port: 81, tags: {v: two, kuma.io/protocol: http}}", "TARGET", "targetRef: {kind: MeshSubset, tags: {v: two}},"}, "the sidecar of a: routes or timeouts select it by the tags", ""},
		"a backend by labels of two services":  {[]string{"backendRefs: [{kind: MeshService, name: b}]", "backendRefs: [{kind: MeshService, labels: {kuma.io/mesh: default}}]", "EXTRA", "---\n" + second("c", "")}, "2 services are a MeshService with labels kuma.io/mesh=default, and Kuma takes the oldest", ""},
		"a backend of several zones":           {[]string{"backendRefs: [{kind: MeshService, name: b}]", "backendRefs: [{kind: MeshService, name: c}]", "EXTRA", "---\n" + second("c", "east") + "---\n" + second("c", "west")}, `MeshService "c" is there in several zones, and the policy states none`, ""},
		"a service of another zone":            {[]string{"TO", "c", "name: r, mesh: default", "name: r, mesh: default, labels: {kuma.io/zone: west}", "EXTRA", "---\n" + second("c", "east")}, `there is no MeshService "c" of the policy's own zone (Kuma looks for a name in no other: select by labels) among the documents`, ""},
		"a service of the zone of the policy":  {[]string{"TO", "c", "name: r, mesh: default", "name: r, mesh: default, labels: {kuma.io/zone: west}", "EXTRA", "---\n" + second("c", "east") + "---\n" + second("c", "west")}, "", ""},
		"a name in a global policy":            {[]string{"TO", "c", "name: r, mesh: default", "name: r, mesh: default, labels: {kuma.io/origin: global}", "EXTRA", "---\n" + second("c", "east")}, `there is no MeshService "c" of the policy's own zone`, ""},
		"several zones, by a policy of a zone": {[]string{"kind: MeshService, name: TO", "kind: MeshMultiZoneService, name: z", "name: r, mesh: default", "name: r, mesh: default, labels: {kuma.io/zone: west}", "EXTRA", "---\n{type: MeshMultiZoneService, name: z, spec: {selector: {meshService: {matchLabels: {kuma.io/mesh: default}}}, ports: [{port: 80, appProtocol: http}]}}"}, `there is no MeshMultiZoneService "z" of the policy's own zone`, ""},
		"a label that is not there":            {[]string{"kind: MeshService, name: TO", "kind: MeshService, labels: {kuma.io/display-name: b}"}, "there is no MeshService with labels kuma.io/display-name=b among the documents", ""},
		"a label that nobody states":           {[]string{"TARGET", "targetRef: {kind: Dataplane, labels: {kuma.io/env: universal}},"}, "asks for kuma.io/env, which a control plane computes, and the workload a does not state the label", ""},
		"a Dataplane without an inbound":       {[]string{"NETWORK inbound: [{name: main, port: 8080, tags: {kuma.io/service: a, kuma.io/protocol: http}}SECOND]", ""}, "the sidecar of a: routes or timeouts select it, and Kuma applies none to a Dataplane without an inbound", ""},
		"a gateway without an inbound":         {[]string{"NETWORK inbound: [{name: main, port: 8080, tags: {kuma.io/service: a, kuma.io/protocol: http}}SECOND]", "gateway: {tags: {kuma.io/service: a}}"}, "", "who reaches whom is not read there"},
		"a label that one service states":      {[]string{"kind: MeshService, name: TO", "kind: MeshService, labels: {kuma.io/zone: east}", "EXTRA", "---\n" + second("c", "east")}, "asks for the label kuma.io/zone, which a control plane computes, and kri_msvc_default___b_", ""},
		"a label that all services state":      {[]string{"kind: MeshService, name: TO", "kind: MeshService, labels: {kuma.io/zone: east}", "{type: MeshService, name: b, spec", "{type: MeshService, name: b, labels: {kuma.io/zone: west}, spec", "EXTRA", "---\n" + second("c", "east")}, "", ""},
		"a role that does not stay":            {[]string{"name: r, mesh: default", "name: r, mesh: default, labels: {kuma.io/policy-role: producer}"}, "", "a control plane writes system over it"},
		"a header that a sidecar writes":       {[]string{"MATCH", "matches: [{headers: [{name: x-request-id, type: Absent}]}],"}, "which a sidecar writes itself", ""},
		"a port without a targetPort":          {[]string{"targetPort: 8080, ", ""}, "", "none of the inbounds is behind it"},
		"a backend that is a port of tcp":      {[]string{"backendRefs: [{kind: MeshService, name: b}]", "backendRefs: [{kind: MeshService, name: b, port: 81}]", "ports: [", "ports: [{name: tcp, port: 81, targetPort: 8081}, "}, `MeshService "b" with the port 81 is tcp, whose share`, "none of the inbounds is behind it"},
		"an order in a circle":                 {[]string{"EXTRA", "---\n" + timeout("a", "{kind: Dataplane}") + "---\n" + timeout("b", "{kind: Dataplane, name: a}") + "---\n" + timeout("c", "{kind: Dataplane, labels: {app: a}}")}, "Kuma has no order for one of every Dataplane", "a stronger policy sets it"},
		"a service that is not available":      {[]string{"spec: {selector", "spec: {state: Unavailable, selector"}, "", "its state is Unavailable, which is not read"},
		"another identity is stated":           {[]string{"spec: {selector", "spec: {identities: [{type: SpiffeID, value: 'spiffe://trust-domain.mesh/ns/default/sa/c'}], selector"}, "", "the inbound b/main behind it has the identity spiffe://trust-domain.mesh/ns/default/sa/b, and it states spiffe://trust-domain.mesh/ns/default/sa/c"},
		"the identity is stated":               {[]string{"spec: {selector", "spec: {identities: [{type: ServiceTag, value: b}, {type: SpiffeID, value: 'spiffe://trust-domain.mesh/ns/default/sa/b'}], selector"}, "", ""},
		"a Dataplane says what it reaches":     {[]string{"NETWORK", "transparentProxying: {reachableServices: [x]},"}, "", "who reaches whom is not read there"},
		"a mesh without a service has a route": {[]string{"mesh: default, spec: {TARGET", "mesh: other, spec: {"}, `there is no MeshService "b" among the documents`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.NewReplacer(append(tt.pairs, "NETWORK", "", "SECOND", "", "TARGET", "", "MATCH", "matches: [{}],", "EXTRA", "", "KIND", "MeshHTTPRoute", "TO", "b")...).Replace(all)
			path := filepath.Join(t.TempDir(), "a.yaml")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			files, err := lab.Open(lab.Choice{}, path)
			if err != nil {
				t.Fatal(err)
			}
			files.TakeRouting()
			proofs, population, err := routeproof.Plan(files, lab.Surroundings{Inbound: policy.Inbound{Workload: policy.Workload{Name: "web", Mesh: "default"}, Port: 8080}}, "")
			if err != nil {
				t.Fatal(err)
			}
			var warned []string
			for _, p := range proofs {
				for _, m := range p.Mismatches {
					warned = append(warned, m.String())
				}
			}
			for _, of := range []struct{ got, want string }{{strings.Join(population.NotAsked(), "\n"), tt.unasked}, {strings.Join(warned, "\n"), tt.warned}} {
				if of.want == "" && of.got != "" || !strings.Contains(of.got, of.want) {
					t.Errorf("want %q, got %q", of.want, of.got)
				}
			}
		})
	}
}
