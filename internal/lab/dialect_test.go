package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestKeepDialect has a folder with the policies of two dialects, and a timeout of one of them.
func TestKeepDialect(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	const text = `type: MeshTrafficPermission
name: k
mesh: default
spec: {rules: [{default: {allow: [{spiffeID: {type: Prefix, value: "spiffe://"}}]}}]}
---
type: MeshTimeout
name: t
mesh: default
spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]}
---
apiVersion: cilium.io/v2
kind: CiliumNetworkPolicy
metadata: {name: c, namespace: shop}
spec: {endpointSelector: {}, ingress: [{}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
`
	if err := os.WriteFile(filepath.Join(folder, "all.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(dialect string) *Files {
		files, err := Open(Choice{}, folder)
		if err != nil {
			t.Fatal(err)
		}
		if dialect != "" {
			files.KeepDialect(dialect)
		}
		files.TakeRouting()
		return files
	}
	if err := open("").CheckDialect(); err == nil {
		t.Error("policies of two dialects are no error")
	}
	for dialect, want := range map[string]struct {
		policies, routing int
		leftOut           string
	}{
		"kuma":   {1, 1, "1 CiliumNetworkPolicy by --dialect"},
		"cilium": {1, 0, "1 MeshTimeout, 1 MeshTrafficPermission by --dialect"},
		"istio":  {0, 0, "1 CiliumNetworkPolicy, 1 MeshTimeout, 1 MeshTrafficPermission by --dialect"},
	} {
		files := open(dialect)
		if len(files.Policies) != want.policies || len(files.Routing) != want.routing || !strings.Contains(files.leftOut(), "1 Service, "+want.leftOut) {
			t.Errorf("%s: %d policies, %d routes, left out: %s", dialect, len(files.Policies), len(files.Routing), files.leftOut())
		}
		if err := files.CheckDialect(); err != nil {
			t.Errorf("%s: %v", dialect, err)
		}
		manifests, err := files.Manifests()
		if err != nil || len(manifests.Others) != 4-want.policies-want.routing {
			t.Errorf("%s: %d documents are not read, %v", dialect, len(manifests.Others), err)
		}
	}
}
