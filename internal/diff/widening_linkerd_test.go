package diff

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy"
)

// Each row widens what policies of Linkerd let in, without a change of the Server that they are
// about. The folder has no workload.
func TestWideningOfLinkerd(t *testing.T) {
	t.Parallel()
	server := func(spec string) string {
		return "---\n{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: s, namespace: x}, spec: {podSelector: {matchLabels: {app: b}}, " + spec + "}}\n"
	}
	object := func(kind, version, name, spec string) string {
		return fmt.Sprintf("---\n{apiVersion: policy.linkerd.io/%s, kind: %s, metadata: {name: %s, namespace: x}, spec: {%s}}\n", version, kind, name, spec)
	}
	policyFor := func(target, refs string) string {
		return object("AuthorizationPolicy", "v1alpha1", "p", "targetRef: {group: policy.linkerd.io, "+target+"}, requiredAuthenticationRefs: ["+refs+"]")
	}
	account := func(name string) string { return "{kind: ServiceAccount, name: " + name + "}" }
	const (
		toServer, toRoute = "kind: Server, name: s", "kind: HTTPRoute, name: r"
		byMeshTLS         = "{group: policy.linkerd.io, kind: MeshTLSAuthentication, name: m}"
	)
	meshTLS := func(identities string) string {
		return object("MeshTLSAuthentication", "v1alpha1", "m", "identities: ["+identities+"]")
	}
	route := func(path string) string {
		return object("HTTPRoute", "v1beta3", "r", "parentRefs: [{group: policy.linkerd.io, kind: Server, name: s}], rules: [{matches: [{path: {type: PathPrefix, value: "+path+"}}]}]")
	}
	legacy := func(client string) string {
		return object("ServerAuthorization", "v1beta1", "a", "server: {name: s}, client: {"+client+"}")
	}
	for name, tt := range map[string]struct{ same, old, recent string }{
		"everybody":              {server("port: http"), policyFor(toServer, account("a")), policyFor(toServer, "")},
		"another account":        {server("port: 8080"), policyFor(toServer, account("a")), policyFor(toServer, account("b"))},
		"a policy":               {server("port: 8080"), "", policyFor(toServer, account("a"))},
		"every identity":         {server("port: 8080") + policyFor(toServer, byMeshTLS), meshTLS(`"a.x.serviceaccount.identity.linkerd.cluster.local"`), meshTLS(`"*"`)},
		"callers without mTLS":   {server("port: 8080"), legacy("meshTLS: {serviceAccounts: [{name: a}]}"), legacy("unauthenticated: true")},
		"a longer route":         {server("port: 8080") + policyFor(toRoute, account("a")), route("/a"), route("/")},
		"a port of HTTP/2":       {server("port: 8080, proxyProtocol: HTTP/2"), policyFor(toServer, account("a")), policyFor(toServer, "")},
		"the policy of a Server": {"", server("port: 8080, accessPolicy: deny"), server("port: 8080, accessPolicy: all-unauthenticated")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := differenceOf(t, tt.same+tt.old, tt.same+tt.recent)
			if len(d.widenings()) == 0 {
				t.Errorf("nothing widens from\n%s\nto\n%s\nbeside\n%s", tt.old, tt.recent, tt.same)
			}
			if len(d.Unasked) > 0 {
				t.Errorf("not asked: %v", d.Unasked)
			}
			if back := differenceOf(t, tt.same+tt.old, tt.same+tt.old).widenings(); len(back) > 0 {
				t.Errorf("no change widens: %q", back)
			}
		})
	}
}

// Two refusals are alike, in whatever form: no route, or a denial.
func TestNoRouteIsNoAccess(t *testing.T) {
	t.Parallel()
	effects := []policy.Effect{policy.Deny, policy.NoRoute, policy.Allow}
	for _, was := range effects {
		for _, is := range effects {
			var c Change
			c.Old.Decision.Effect, c.New.Decision.Effect = was, is
			want := OriginChanged
			switch {
			case was != policy.Allow && is == policy.Allow:
				want = Widened
			case was == policy.Allow && is != policy.Allow:
				want = Narrowed
			}
			if got := c.Kind(); got != want {
				t.Errorf("%s to %s is %s, want %s", was, is, got, want)
			}
		}
	}
}
