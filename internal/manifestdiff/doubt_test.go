package manifestdiff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/manifestdiff"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A new policy is in doubt where its namespace may not be there. Where neither side came first, and where nothing has
// changed, nothing is in doubt.
func TestDoubtsOfNamespaces(t *testing.T) {
	t.Parallel()
	docs := func(texts ...string) []manifest.Document {
		out, err := manifest.Parse("p.yaml", []byte(strings.Join(texts, "\n---\n")))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	in := func(kind, namespace, name string) string {
		return fmt.Sprintf("{apiVersion: security.istio.io/v1, kind: %s, metadata: {name: %s, namespace: %s}, spec: {}}", kind, name, namespace)
	}
	old := in("AuthorizationPolicy", "shop", "p")
	for name, tt := range map[string]struct{ policies, others, want string }{
		"a new namespace":             {in("AuthorizationPolicy", "root", "d"), "", "AuthorizationPolicy root/d may not be applied: no document of OLD is in the namespace root"},
		"a namespace that is made":    {in("AuthorizationPolicy", "root", "d"), "{apiVersion: v1, kind: Namespace, metadata: {name: root}}", ""},
		"a namespace with others":     {in("AuthorizationPolicy", "shop", "d"), "", ""},
		"a namespace of a mesh":       {in("AuthorizationPolicy", "istio-system", "d"), "", ""},
		"no namespace":                {"{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d}, spec: {}}", "", ""},
		"no namespace, but a cluster": {"{apiVersion: cilium.io/v2, kind: CiliumClusterwideNetworkPolicy, metadata: {name: d}, spec: {}}", "", "CiliumClusterwideNetworkPolicy d may not be applied: OLD has no CiliumClusterwideNetworkPolicy of cilium.io"},
		"two in a new namespace":      {in("AuthorizationPolicy", "root", "d") + "\n---\n" + in("AuthorizationPolicy", "root", "e"), "", "AuthorizationPolicy root/d, AuthorizationPolicy root/e may"},
		"nothing has changed":         {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			was := manifestdiff.Side{Policies: docs(old)}
			is := manifestdiff.Side{Policies: docs(old, tt.policies), Others: docs(tt.others)}
			found := manifestdiff.Compare(was, is, false).Doubts
			if (len(found) > 0) != (tt.want != "") {
				t.Fatalf("%v, want %q", found, tt.want)
			}
			if tt.want == "" {
				return
			}
			if !strings.HasPrefix(found[0].String(), tt.want) {
				t.Errorf("%v, want %q", found, tt.want)
			}
			if left := manifestdiff.LeaveOut(is.Policies, found...); len(left) != 1 || left[0].Flow() != docs(old)[0].Flow() {
				t.Errorf("without them there are %d policies", len(left))
			}
			if found := manifestdiff.Compare(was, is, true).Doubts; len(found) > 0 {
				t.Errorf("neither side came first: %v", found)
			}
		})
	}
}
