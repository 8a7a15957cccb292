package diff

import (
	"strings"
	"testing"
)

// TestRoutesOfGateways has routes of Kuma for a gateway beside permissions. They are not read, so that each change of one is named.
func TestRoutesOfGateways(t *testing.T) {
	t.Parallel()
	type files map[string]string
	permission := func(action string) string {
		return "{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: web}}, rules: [{default: {" + action + ": [{spiffeID: {type: Exact, value: 'spiffe://a/ns/b/sa/c'}}]}}]}}\n"
	}
	route := func(target, path string) string {
		return "{type: MeshHTTPRoute, mesh: default, name: r, spec: {targetRef: " + target + ", to: [{targetRef: {kind: Mesh}, rules: [{matches: [{path: {type: PathPrefix, value: " + path + "}}], default: {filters: []}}]}]}}\n"
	}
	const gateway = "{kind: MeshGateway, name: edge}"
	for name, tt := range map[string]struct {
		old, recent files
		want        string
	}{
		"a route that stays":         {files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, ""},
		"a route that changes":       {files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/b")}, "MeshHTTPRoute"},
		"a new route":                {files{"p.yaml": permission("deny")}, files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, "MeshHTTPRoute"},
		"a permission beside it":     {files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, files{"p.yaml": permission("allow"), "r.yaml": route(gateway, "/a")}, "access widens"},
		"a permission that narrows":  {files{"p.yaml": permission("allow"), "r.yaml": route(gateway, "/a")}, files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, ""},
		"a route of the mesh itself": {files{"p.yaml": permission("deny"), "r.yaml": route("{kind: Mesh}", "/a")}, files{"p.yaml": permission("deny"), "r.yaml": route(gateway, "/a")}, "MeshHTTPRoute"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkReasons(t, folderSide(t, tt.old, ""), folderSide(t, tt.recent, ""), tt.want)
		})
	}
	side := folderSide(t, files{"p.yaml": strings.Replace(permission("allow"), "kind: Dataplane", "kind: MeshGateway", 1)}, "")
	if _, err := Diff(side, side, ""); err == nil {
		t.Error("a permission for a gateway is not refused")
	}
}
