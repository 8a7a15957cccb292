package authorization_test

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
	"github.com/meshproof/meshproof/policy/manifest"
)

// A host of a route of a Server is told: older proxies compare its case.
func TestDrafts(t *testing.T) {
	t.Parallel()
	server := head("policy.linkerd.io/v1beta3", "Server", "web", "shop") + "{podSelector: {}, port: 8080}}\n"
	route := func(name, more string) string {
		return head("policy.linkerd.io/v1beta3", "HTTPRoute", "r", "shop") + "{parentRefs: [{group: policy.linkerd.io, kind: Server, name: " + name + "}], rules: [{}]" + more + "}}\n"
	}
	for name, tt := range map[string]struct {
		text string
		want bool
	}{
		"a host":                   {server + route("web", ", hostnames: [shop.example]"), true},
		"no host":                  {server + route("web", ""), false},
		"a host of another Server": {server + route("admin", ", hostnames: [shop.example]"), false},
	} {
		docs, err := manifest.Parse("p.yaml", []byte(tt.text))
		if err != nil {
			t.Fatal(err)
		}
		set, err := authorization.Parse(docs)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(authorization.Drafts(set), "\n")
		if strings.Contains(got, `"shop.example"`) != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
