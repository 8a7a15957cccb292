package inspect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/manifest"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	r, routed := load(t, "mesh"), load(t, "routes")
	for name, target := range map[string]string{
		"dataplanes":         "/meshes/default/dataplanes",
		"dataplane":          "/meshes/default/dataplanes/web.shop",
		"inbounds":           "/meshes/default/dataplanes/backend/_inbounds",
		"inbound":            httpPort,
		"inbound-tcp":        "/meshes/default/dataplanes/backend/_inbounds/kri_dp_default___backend_5432/_policies",
		"inbound-kubernetes": "/meshes/default/dataplanes/web/_inbounds/kri_dp_default_zone-1_shop_web_main/_policies",
		"proxy":              "/meshes/default/dataplanes/backend/_policies",
		"proxy-kubernetes":   "/meshes/default/dataplanes/web.shop/_policies",
		"outbounds":          toShop[:strings.LastIndex(toShop, "/")],
		"outbound":           toShop + "/_policies",
		"routes":             toShop + "/_routes",
		"route":              toShop + "/_routes/kri_mhttpr_default__shop-ns_to-shop_rule_0/_policies",
		"route-default":      toShop + "/_routes/kri_msvc_default__shop-ns_shop_http/_policies",
		"routes-none":        "/meshes/default/dataplanes/away.away-ns/_outbounds/kri_msvc_default__shop-ns_shop_http/_routes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := r
			if strings.Contains(target, "/_outbounds") {
				of = routed
			}
			w := get(t, of, target)
			if got := w.Header().Get("Content-Type"); w.Code != http.StatusOK || got != "application/json" {
				t.Fatalf("status %d, %s: %s", w.Code, got, w.Body)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, w.Body.Bytes(), "", "  "); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, "answers/"+name+".json", got.Bytes())
		})
	}
}

// toShop is an outbound of the folder routes.
const toShop = "/meshes/default/dataplanes/web.web-ns/_outbounds/kri_msvc_default__shop-ns_shop_http"

const dataplaneOnly = `
type: Dataplane
name: backend
networking: {inbound: [{name: http-port, port: 8080, protocol: http}]}
`

func TestNothingApplies(t *testing.T) {
	t.Parallel()
	elsewhere := `---
type: MeshTrafficPermission
name: elsewhere
spec: {targetRef: {kind: Dataplane, labels: {app: frontend}}, default: {allow: [{method: GET}]}}
`
	idle := `{"policies":[],"warnings":[{"reason":"idle","kri":"kri_mtp_default___elsewhere_","place":"mesh.yaml:6",` +
		`"message":"MeshTrafficPermission elsewhere applies to no inbound (backend/http-port: targetRef.labels asks for app=\"frontend\", the workload has none)"}]}`
	empty := "---\n{type: MeshTrafficPermission, name: empty, spec: {}}\n"
	lint := `{"policies":[],"warnings":[{"reason":"lint","kri":"kri_mtp_default___empty_","place":"mesh.yaml:6: spec",` +
		`"message":"MeshTrafficPermission empty has no rules: it has no effect"}]}`
	for name, tt := range map[string]struct{ yaml, want string }{
		"no policy":              {dataplaneOnly, `{"policies":[]}`},
		"policy of another mesh": {dataplaneOnly + strings.Replace(elsewhere, "name:", "mesh: other\nname:", 1), `{"policies":[]}`},
		"policy that misses":     {dataplaneOnly + elsewhere, idle},
		"policy without rules":   {dataplaneOnly + empty, lint},
	} {
		for _, path := range []string{httpPort, "/meshes/default/dataplanes/backend/_policies"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				t.Parallel()
				w := get(t, parse(t, tt.yaml, permission.Options{}), path)
				if got := strings.TrimSpace(w.Body.String()); w.Code != http.StatusOK || got != tt.want {
					t.Errorf("status %d:\n%s\nwant 200:\n%s", w.Code, got, tt.want)
				}
			})
		}
	}
}

// Absent, empty and set lists stay different, and so do the two spellings of the identity.
func TestAnswerKeepsTheConfAsWritten(t *testing.T) {
	t.Parallel()
	const rule = `{"deny":[],"allow":[{"spiffeID":{"type":"Prefix","value":"spiffe://td/"},"path":{"type":"Exact","value":"/a"},"method":"GET"},{"spiffeId":{"type":"Exact","value":"spiffe://td/b"}}]}`
	r := parse(t, dataplaneOnly+"---\ntype: MeshTrafficPermission\nname: p\nspec: {rules: [{default: "+rule+"}]}\n", permission.Options{})
	for _, path := range []string{httpPort, "/meshes/default/dataplanes/backend/_policies"} {
		if got := get(t, r, path).Body.String(); !strings.Contains(got, `"conf":`+rule+`,"orig`) {
			t.Errorf("%s: %s, want the conf %s", path, got, rule)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	exact := func(value string) *Value { return &Value{Type: "Exact", Value: value} }
	for name, tt := range map[string]struct {
		spec string
		want []Rule
	}{
		"nothing":   {"{}", []Rule{}},
		"no lists":  {"{default: {}}", []Rule{{}}},
		"one list":  {"{default: {allow: [{method: GET}]}}", []Rule{{Conf: Conf{Allow: []Match{{Method: "GET"}}}}}},
		"empty one": {"{default: {deny: []}}", []Rule{{Conf: Conf{Deny: []Match{}}}}},
		"spellings": {"{rules: [{default: {deny: [{spiffeId: {type: Exact, value: 'spiffe://td/a'}}, {spiffeID: {type: Exact, value: 'spiffe://td/b'}}]}}, {}]}", []Rule{
			{Conf: Conf{Deny: []Match{
				{SPIFFEID: exact("spiffe://td/a")}, {SPIFFEIDUpper: exact("spiffe://td/b")},
			}}}, {},
		}},
		"conditions": {"{rules: [{conditions: [{path: {type: Exact, value: /a}}], default: {action: Deny}}, {default: {action: Allow}}, {conditions: [], default: {action: Allow}}]}", []Rule{
			{Conf: Conf{Action: "Deny"}, Conditions: []Match{{Path: exact("/a")}}},
			{Conf: Conf{Action: "Allow"}},
			{Conf: Conf{Action: "Allow"}, Conditions: []Match{}},
		}},
		"from": {"{from: [{targetRef: {kind: MeshSubset, mesh: other, tags: {env: dev}}, default: {action: DENY}}]}", []Rule{
			{Conf: Conf{Action: "DENY"}, From: &Clients{Kind: "MeshSubset", Mesh: "other", Tags: map[string]string{"env": "dev"}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := manifest.Parse("p.yaml", []byte("{type: MeshTrafficPermission, name: p, spec: "+tt.spec+"}"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := permission.Parse(docs[0])
			if err != nil {
				t.Fatal(err)
			}
			for i := range tt.want {
				tt.want[i].Origin, tt.want[i].KRI = p.Origin, p.Origin
			}
			if diff := cmp.Diff(tt.want, newRules(p)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
