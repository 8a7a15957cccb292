package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
)

// A whole principal of cluster.local stands for the mesh's trust domain, and one with a star does not: where nobody states it, a narrower
// list of callers widens, and a note says why.
func TestUnstatedTrustDomain(t *testing.T) {
	t.Parallel()
	const starred, whole = "cluster.local/ns/a/*", "cluster.local/ns/a/sa/b"
	allow := func(principal string) string {
		return fmt.Sprintf("{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {rules: [{from: [{source: {principals: ['%s']}}]}]}}\n", principal)
	}
	for _, tt := range []struct {
		old, recent, domain string
		widens, noted       bool
	}{
		{starred, whole, "", true, true},
		{starred, whole, "cluster.local", false, false},
		{starred, whole, "my.mesh", true, false},
		{whole, "cluster.local/ns/c/sa/d", "", true, false},
		{"cluster.local/ns/a/sa/b", "*", "", true, false},
	} {
		sides := [2]Side{sideOf(t, allow(tt.old)), sideOf(t, allow(tt.recent))}
		for i := range sides {
			if tt.domain != "" {
				sides[i].Options.TrustDomain = spiffeid.RequireTrustDomainFromString(tt.domain)
			}
		}
		d, err := Diff(sides[0], sides[1], "")
		if err != nil {
			t.Fatal(err)
		}
		if got := d.counts()[Widened] > 0; got != tt.widens {
			t.Errorf("from %s to %s of %q: widens %t", tt.old, tt.recent, tt.domain, got)
		}
		var text strings.Builder
		d.WriteText(&text, false)
		for _, shown := range []string{text.String(), d.Markdown()} {
			if got := strings.Contains(shown, "nobody states the trust domain"); got != tt.noted {
				t.Errorf("from %s to %s of %q: noted %t:\n%s", tt.old, tt.recent, tt.domain, got, shown)
			}
		}
	}
}
