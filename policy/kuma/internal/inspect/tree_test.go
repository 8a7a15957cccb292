package inspect

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

const httpTree = "/meshes/default/dataplanes/backend/_inbounds/kri_dp_default___backend_http-port/_tree"

// grouped has the three groups of the design's example, with a rule for each.
const grouped = dataplaneOnly + `---
type: MeshTrafficPermission
name: by-mesh-operator
spec:
  rules:
    - {conditions: [{spiffeId: {type: Exact, value: spiffe://td/ns/default/sa/frontend}}], default: {action: Deny}}
---
type: MeshTrafficPermission
name: by-service-owner
spec:
  rules:
    - {conditions: [{spiffeId: {type: Exact, value: spiffe://td/ns/default/sa/api-gateway}}], default: {action: Deny}}
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/}}], default: {action: Allow}}
    - {conditions: [{spiffeId: {type: Prefix, value: spiffe://td/ns/legacy/}, method: GET}], default: {action: AllowWithShadowDeny}}
`

// The tree as it is built has eight leaves, with the actions that each merges. The pruned tree
// asks nothing behind a deny.
func TestTree(t *testing.T) {
	t.Parallel()
	r := parse(t, grouped, permission.Options{Option: permission.Option3})
	w := get(t, r, httpTree)
	var got bytes.Buffer
	if err := json.Indent(&got, w.Body.Bytes(), "", "  "); w.Code != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v: %s", w.Code, err, w.Body)
	}
	golden.Compare(t, "answers/tree.json", got.Bytes())
	page := get(t, r, "/?inbound=kri_dp_default___backend_http-port").Body.String()
	for _, want := range []string{"Decision tree of Option 3", "condition_1 ?\n├─ yes  Deny\n", `href="` + httpTree + `"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestTreesKeepTheContract(t *testing.T) {
	t.Parallel()
	lists := dataplaneOnly + "---\n{type: MeshTrafficPermission, name: p, spec: {default: {deny: [{method: PUT}], allow: [{spiffeId: {type: Prefix, value: spiffe://td/}}]}}}\n"
	legacy := dataplaneOnly + "---\n{type: MeshTrafficPermission, name: p, spec: {from: [{targetRef: {kind: Mesh}, default: {action: ALLOW}}]}}\n"
	for name, tt := range map[string]struct {
		yaml, target string
		option       permission.Option
		status       int
		want         string
	}{
		"conditions":      {grouped, httpTree, permission.Option3, 200, `"anyOf":["identity = \"spiffe://td/ns/default/sa/api-gateway\"","identity = \"spiffe://td/ns/default/sa/frontend\""]`},
		"lists":           {lists, httpTree, permission.Option1, 200, `"pruned":{"ask":"condition_1","yes":{"action":"Deny"},"no":{"ask":"condition_2","yes":{"action":"Allow","merged":["Allow"]},"no":{"action":"Deny","merged":[]}}}`},
		"no policy":       {dataplaneOnly, httpTree, permission.Option3, 200, `{"kind":"MeshTrafficPermission","conditions":[],"tree":{"action":"Deny","merged":[]},"pruned":{"action":"Deny","merged":[]}}`},
		"legacy":          {legacy, httpTree, permission.Option1, 404, "the last item that matches decides"},
		"no such mesh":    {lists, strings.Replace(httpTree, "default", "other", 1), permission.Option1, 404, "no mesh"},
		"no such inbound": {lists, strings.Replace(httpTree, "http-port", "nothing", 1), permission.Option1, 404, "no inbound"},
		"no KRI":          {lists, strings.Replace(httpTree, "kri_", "", 1), permission.Option1, 400, "kri"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := parse(t, tt.yaml, permission.Options{Option: tt.option})
			c := newContract(t, r)
			got := fetch(t, c.server, http.MethodGet, tt.target)
			if got.status != tt.status || !strings.Contains(string(got.body), tt.want) {
				t.Errorf("status %d: %s\nwant %d with %s", got.status, got.body, tt.status, tt.want)
			}
			if err := c.check(t, got); err != nil {
				t.Error(err)
			}
			if page := get(t, r, "/?inbound=kri_dp_default___backend_http-port").Body.String(); strings.Contains(page, "Decision tree") != (name == "conditions") {
				t.Error("the page shows a tree where none is compiled, or none where one is")
			}
		})
	}
}
