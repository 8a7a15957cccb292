package inspect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// Legacy policies select an inbound by its own tags.
func TestTags(t *testing.T) {
	t.Parallel()
	const (
		everybody = "kri_mtp_default___everybody_"
		subset    = "kri_mtp_default___by-subset_"
		service   = "kri_mtp_default___by-service-subset_"
		label     = "kri_mtp_default___by-label_"
		admin     = "/meshes/default/dataplanes/backend/_inbounds/kri_dp_default___backend_admin/_policies"
		actions   = "it has actions, which do not merge into one conf: ask for the policies of an inbound"
		some      = "it applies to some of the inbounds, this is about all of them alike: ask for the policies of an inbound"
		idle      = `MeshTrafficPermission by-label applies to no inbound (backend/http-port: targetRef.labels asks for kuma.io/service="backend", the workload has none)`
	)
	r := load(t, "tags")
	for target, want := range map[string]struct {
		origins  []string
		warnings map[string]string
	}{
		httpPort: {[]string{everybody, subset, service}, map[string]string{label: idle}},
		admin: {[]string{everybody, subset}, map[string]string{label: idle,
			service: `targetRef asks for kuma.io/service="backend", the inbound has "backend-admin"`}},
		"/meshes/default/dataplanes/backend/_policies": {nil, map[string]string{label: idle, service: some, everybody: actions, subset: actions}},
	} {
		var got InboundPolicies
		unmarshal(t, get(t, r, target).Body.Bytes(), &got)
		var origins []string
		warnings := got.Warnings
		for _, p := range got.Policies {
			warnings = p.Warnings
			for _, origin := range p.Origins {
				origins = append(origins, origin.KRI)
			}
		}
		messages := make(map[string]string)
		for _, w := range warnings {
			if w.Reason == Ignored || w.Reason == Idle {
				messages[w.KRI] = w.Message
			}
		}
		if diff := cmp.Diff(want.origins, origins); diff != "" {
			t.Errorf("%s: origins (-want +got):\n%s", target, diff)
		}
		if diff := cmp.Diff(want.warnings, messages); diff != "" {
			t.Errorf("%s: warnings (-want +got):\n%s", target, diff)
		}
	}
	for identity, want := range map[string]string{"spiffe://default/web": "deny", "spiffe://default/batch": "deny", "spiffe://default/other": "allow"} {
		page := get(t, r, ask("kri_dp_default___backend_http-port", identity, "GET", "/")).Body.String()
		if !strings.Contains(page, `<p><strong class="`+want+`">`) {
			t.Errorf("%s: want %s:\n%s", identity, want, page)
		}
	}
}

// A policy for a route is not idle if an inbound may have the route.
func TestRoutes(t *testing.T) {
	t.Parallel()
	const (
		routed = `---
type: MeshTrafficPermission
name: routed
spec: {targetRef: {kind: MeshHTTPRoute, name: orders}, from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}
`
		rules   = "---\n{type: MeshTrafficPermission, name: rules, spec: {default: {allow: [{method: GET}]}}}\n"
		unknown = `"reason":"ignored","kri":"kri_mtp_default___routed_","place":"mesh.yaml:6","message":"targetRef names the route \"orders\": routes are not known here, so that it may govern one of the inbound"`
		whole   = "/meshes/default/dataplanes/backend/_policies"
	)
	tcp := strings.Replace(dataplaneOnly, "protocol: http", "protocol: tcp", 1)
	for name, tt := range map[string]struct{ yaml, target, want string }{
		"inbound":             {dataplaneOnly + routed, httpPort, unknown},
		"gateway route":       {dataplaneOnly + strings.Replace(routed, "HTTP", "Gateway", 1), httpPort, unknown},
		"dataplane":           {dataplaneOnly + routed, whole, unknown},
		"tcp":                 {tcp + routed, httpPort, `"reason":"idle","kri":"kri_mtp_default___routed_","place":"mesh.yaml:6","message":"MeshTrafficPermission routed applies to no inbound (backend/http-port: targetRef names the route \"orders\", but a tcp inbound has no routes)"`},
		"beside rules":        {dataplaneOnly + routed + rules, httpPort, "its from has no effect beside the rules of kri_mtp_default___rules_"},
		"tcp beside http":     {strings.Replace(dataplaneOnly, "[{", "[{port: 1, protocol: tcp}, {", 1) + routed, whole, unknown},
		"page of the inbound": {dataplaneOnly + routed, "/?inbound=kri_dp_default___backend_http-port", "<strong>ignored</strong> <code>kri_mtp_default___routed_</code>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if body := get(t, parse(t, tt.yaml, permission.Options{}), tt.target).Body.String(); !strings.Contains(body, tt.want) {
				t.Errorf("%s\nwant in it %s", body, tt.want)
			}
		})
	}
}

// The mesh shows policies that apply to no inbound.
func TestNoInbound(t *testing.T) {
	t.Parallel()
	const p = "{type: MeshTrafficPermission, mesh: x, name: p, spec: {default: {allow: [{method: GET}]}}}\n"
	const dataplanes = "/meshes/x/dataplanes"
	for name, tt := range map[string]struct{ yaml, target, want string }{
		"list":           {p, dataplanes, `{"total":0,"items":[],"next":null,"warnings":[{"reason":"idle","kri":"kri_mtp_x___p_","place":"mesh.yaml:1","message":"mesh \"x\" has no Dataplane"}]}`},
		"page":           {p, "/", "<h2>Mesh x</h2>\n<ul aria-label=\"Warnings\">\n<li><strong>idle</strong> <code>kri_mtp_x___p_</code>: mesh &#34;x&#34; has no Dataplane <small>(mesh.yaml:1)</small></li>"},
		"no inbound":     {p + "---\n{type: Dataplane, mesh: x, name: d}\n", dataplanes, `"message":"no Dataplane of mesh \"x\" has an inbound"`},
		"with inbound":   {p + "---\n{type: Dataplane, mesh: x, name: d, networking: {inbound: [{port: 1}]}}\n", dataplanes, `"next":null}`},
		"without policy": {"{type: Dataplane, mesh: x, name: d}\n", dataplanes, `"next":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parse(t, tt.yaml, permission.Options{})
			if body := get(t, r, tt.target).Body.String(); !strings.Contains(body, tt.want) {
				t.Errorf("%s\nwant in it %s", body, tt.want)
			}
			c := newContract(t, r)
			if err := c.check(t, fetch(t, c.server, "GET", dataplanes)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Fields that a control plane adds to a Dataplane are accepted and change nothing.
func TestStoredDataplane(t *testing.T) {
	t.Parallel()
	r := parse(t, `
type: Dataplane
name: a
creationTime: 2024-01-02T03:04:05Z
modificationTime: "2024-01-02T03:04:05Z"
status: {conditions: []}
networking: {inbound: [{port: 1}]}
---
apiVersion: kuma.io/v1alpha1
kind: Dataplane
metadata:
  name: b
  namespace: shop
  uid: 6f1c
  resourceVersion: "17"
  generation: 2
  creationTimestamp: 2024-01-02T03:04:05Z
  ownerReferences: [{kind: Pod, name: b}]
  managedFields: [{manager: kuma-cp}]
  finalizers: [kuma.io/hold]
spec: {networking: {inbound: [{port: 1}]}}
status: {}
`, permission.Options{})
	for _, name := range []string{"a", "b.shop"} {
		if _, d, refusal := r.find("default", name); refusal != nil || len(d.Inbounds) != 1 {
			t.Errorf("%s: %+v, %+v", name, d, refusal)
		}
	}
}
