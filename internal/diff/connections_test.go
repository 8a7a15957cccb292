package diff

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/terminal"
)

// A rule of HTTP is compared on an inbound of tcp too, which no file has. No warning speaks of that inbound: lint has none.
func TestMadeConnectionsHaveNoWarning(t *testing.T) {
	t.Parallel()
	policies := func(method string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: {matchLabels: {app: a}}, action: DENY, rules: [{to: [{operation: {" + method + "}}]}]}}\n"
	}
	var b strings.Builder
	d := differenceOf(t, policies("methods: [GET]"), policies("methods: [GET], ports: ['8080']"))
	d.WriteText(&b, terminal.Paint(false))
	if text := b.String(); !strings.Contains(text, "(tcp)") || strings.Contains(text, "http-on-tcp") {
		t.Error(text)
	}
}
