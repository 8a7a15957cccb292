package diff

import (
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
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

// TestWideningBesideConnections has flags that say tcp. They describe one workload, and others of the folder may take requests, also
// one with its labels: a policy about these opens them.
func TestWideningBesideConnections(t *testing.T) {
	t.Parallel()
	policies := func(app, path string) string {
		return "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p, namespace: shop}, spec: {selector: " + app + ", action: DENY, rules: [{to: [{operation: {paths: [" + path + "]}}]}]}}\n"
	}
	for name, tt := range map[string]struct {
		labels map[string]string
		app    string
	}{
		"of another workload":     {map[string]string{"app": "db"}, "{matchLabels: {app: web}}"},
		"of one that is assumed":  {nil, "{matchLabels: {app: web}}"},
		"of the described labels": {map[string]string{"app": "web"}, "{matchLabels: {app: web}}"},
		"of each workload":        {map[string]string{"app": "db"}, "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, recent := sideOf(t, policies(tt.app, "'/a*'")), sideOf(t, policies(tt.app, "'/ab*'"))
			for _, s := range []*Side{&old, &recent} {
				s.Inbound.Protocol, s.Inbound.Workload.Labels, s.Inbound.Workload.Namespace = policy.TCP, tt.labels, "shop"
			}
			d, err := Diff(old, recent, "")
			if err != nil {
				t.Fatal(err)
			}
			if len(d.widenings()) == 0 {
				t.Error("nothing widens")
			}
		})
	}
}

// TestWideningBesideFlags has flags that describe a workload which a policy that stays closes. What opens at others is told.
func TestWideningBesideFlags(t *testing.T) {
	t.Parallel()
	const (
		closed = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: k, namespace: shop}, spec: {selector: {matchLabels: {app: db}}, action: DENY, rules: [{}]}}\n"
		root   = "{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: d, namespace: istio-system}, spec: {action: DENY, rules: [{from: [{source: {namespaces: [a]}}]}]}}\n"
	)
	old, recent := sideOf(t, closed+"---\n"+root), sideOf(t, closed)
	for _, s := range []*Side{&old, &recent} {
		s.Inbound.Workload.Labels, s.Inbound.Workload.Namespace = map[string]string{"app": "db"}, "shop"
	}
	d, err := Diff(old, recent, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.widenings()) == 0 {
		t.Error("the end of a DENY for the whole mesh widens nothing")
	}
}
