package inspect

import (
	"net/http"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// An answer shows policies of the other designs in their own form.
func TestForms(t *testing.T) {
	t.Parallel()
	conditions := dataplaneOnly + `---
type: MeshTrafficPermission
name: tree
spec:
  rules:
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/a/}, method: GET}, {path: {type: Exact, value: /}}], default: {action: Allow}}
    - {default: {action: Deny}}
`
	nested := dataplaneOnly + `---
type: MeshTrafficPermission
name: tree
spec:
  rules:
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/}}], default: {action: Allow}}
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/legacy/}}], default: {action: AllowWithShadowDeny}}
`
	from := dataplaneOnly + `---
type: MeshTrafficPermission
name: clients
spec:
  targetRef: {kind: MeshService, name: backend}
  from:
    - {targetRef: {kind: Mesh}, default: {action: Deny}}
    - {targetRef: {kind: MeshServiceSubset, name: web, mesh: other, tags: {env: dev}}, default: {action: ALLOW_WITH_SHADOW_DENY}}
`
	const proxy = "/meshes/default/dataplanes/backend/_policies"
	for name, tt := range map[string]struct {
		yaml, target, want string
		opts               permission.Options
	}{
		"conditions": {conditions, httpPort,
			`"rules":[{"conditions":[{"spiffeId":{"type":"Prefix","value":"spiffe://td/a/"},"method":"GET"},{"path":{"type":"Exact","value":"/"}}],"conf":{"action":"Allow"},` +
				`"origin":"kri_mtp_default___tree_","kri":"kri_mtp_default___tree_"},{"conf":{"action":"Deny"},"origin":"kri_mtp_default___tree_","kri":"kri_mtp_default___tree_"}],` +
				`"origins":[{"kri":"kri_mtp_default___tree_"}]`, permission.Options{Option: permission.Option3}},
		"merged conditions": {conditions, proxy, `"policies":[],"warnings":[`, permission.Options{Option: permission.Option3}},
		"why conditions do not merge": {conditions, proxy,
			`{"reason":"ignored","kri":"kri_mtp_default___tree_","place":"mesh.yaml:6","message":"it has actions, which do not merge into one conf: ask for the policies of an inbound"}`,
			permission.Options{Option: permission.Option3}},
		"from": {from, httpPort,
			`"rules":[{"from":{"kind":"Mesh"},"conf":{"action":"Deny"},"origin":"kri_mtp_default___clients_","kri":"kri_mtp_default___clients_"},` +
				`{"from":{"kind":"MeshServiceSubset","name":"web","mesh":"other","tags":{"env":"dev"}},"conf":{"action":"ALLOW_WITH_SHADOW_DENY"},`, permission.Options{}},
		"merged from": {from, proxy, `"policies":[],"warnings":[`, permission.Options{}},
		"page of conditions": {conditions, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://td/b",
			`<strong class="deny">deny</strong> by <code>Deny</code>`, permission.Options{Option: permission.Option3}},
		"page of nested conditions": {nested, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://td/legacy/a",
			", and there identity starts with ", permission.Options{Option: permission.Option3}},
		"page of from": {from, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://other/web+kuma://env/dev",
			`<strong class="allow">allow</strong> by <code>MeshTrafficPermission</code> because`, permission.Options{}},
		"page of from for another": {from, "/?inbound=kri_dp_default___backend_http-port&identity=spiffe://default/web",
			`<strong class="deny">deny</strong>: no rule allows it`, permission.Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parse(t, tt.yaml, tt.opts)
			w := get(t, r, tt.target)
			if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, tt.want) {
				t.Errorf("status %d: %s\nwant in it %s", w.Code, body, tt.want)
			}
			if !strings.HasPrefix(tt.target, "/?") {
				c := newContract(t, r)
				if err := c.check(t, fetch(t, c.server, http.MethodGet, tt.target)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
