package diff

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/terminal"
)

// A caller whom Cilium knows gets a 403, and another one no connection. Where nothing else differs, both sides say which it is.
func TestRefusalsOfOneTextHaveTheirForm(t *testing.T) {
	t.Parallel()
	policies := func(peer string) string {
		return "{apiVersion: cilium.io/v2, kind: CiliumNetworkPolicy, metadata: {name: p, namespace: x}, spec: {endpointSelector: {matchLabels: {app: b}}, " +
			"ingress: [{fromEndpoints: [{matchLabels: {app: " + peer + "}}], toPorts: [{ports: [{port: '8080', protocol: TCP}], rules: {http: [{path: /a}]}}]}]}}\n"
	}
	var b strings.Builder
	d := differenceOf(t, policies("a"), policies("c"))
	d.WriteText(&b, terminal.Paint(false))
	for _, form := range []string{
		"      old      deny: no rule matches (a 403, or PERMISSION_DENIED of gRPC)\n      new      deny: no rule matches (a closed connection)\n",
		"      old      deny: no rule matches (a closed connection)\n      new      deny: no rule matches (a 403, or PERMISSION_DENIED of gRPC)\n",
	} {
		if text := b.String(); !strings.Contains(text, form) {
			t.Errorf("%q is not in\n%s", form, text)
		}
	}
	if cells := d.Markdown(); strings.Count(cells, "deny: no rule matches (a closed connection)") != 2 {
		t.Error(cells)
	}
}
