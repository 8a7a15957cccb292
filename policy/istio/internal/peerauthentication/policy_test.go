package peerauthentication

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
)

func parseText(t *testing.T, text string) ([]Policy, error) {
	t.Helper()
	return ParseAll(dialecttest.Documents(t, text))
}

// TestRefusals compares the error of each policy in the archive with the text above it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	golden.Refusals(t, "refusals.txtar", func(t *testing.T, name, body string) string {
		ps, err := parseText(t, body)
		if err == nil || ps != nil {
			t.Fatalf("%s: not refused: %v", name, ps)
		}
		return strings.ReplaceAll(err.Error(), "\n", " and ")
	})
}

const head = "---\napiVersion: security.istio.io/v1\nkind: PeerAuthentication\n"

// plainMode says what Istio's documentation says, and shares nothing with Compose: ages are the
// order of the levels' policies.
func plainMode(mesh, namespace, workload, port string) mtls.Mode {
	for _, mode := range []string{port, workload, namespace, mesh} {
		switch mode {
		case "STRICT":
			return mtls.Strict
		case "DISABLE":
			return mtls.Disable
		case "PERMISSIVE":
			return mtls.Permissive
		}
	}
	return mtls.Permissive
}

// plainDecider returns the name of the policy that states the mode.
func plainDecider(mesh, namespace, workload string) string {
	switch states := func(mode string) bool { return strings.ReplaceAll(mode, "UNSET", "") != "" }; {
	case states(workload):
		return "shop/w "
	case states(namespace):
		return "shop/n "
	case states(mesh):
		return "istio-system/m "
	default:
		return ""
	}
}

// TestMode asks for the mode under each combination of modes of the mesh, the namespace, the
// workload and the port, each of which may be absent.
func TestMode(t *testing.T) {
	t.Parallel()
	modes := []string{"", "UNSET", "STRICT", "PERMISSIVE", "DISABLE"}
	in := policy.Inbound{Workload: policy.Workload{Name: "w", Namespace: "shop", Labels: map[string]string{"app": "w", "x": "y"}}, Port: 80}
	asked := 0
	for _, mesh := range modes {
		for _, namespace := range modes {
			for _, workload := range modes {
				for _, port := range modes {
					var text strings.Builder
					// The order of documents decides nothing.
					if workload != "" || port != "" {
						fmt.Fprintf(&text, head+"metadata: {name: w, namespace: shop}\nspec: {selector: {matchLabels: {app: w}}")
						if workload != "" {
							fmt.Fprintf(&text, ", mtls: {mode: %s}", workload)
						}
						if port != "" {
							fmt.Fprintf(&text, ", portLevelMtls: {80: {mode: %s}, 81: {mode: STRICT}}", port)
						}
						text.WriteString("}\n")
					}
					if namespace != "" {
						fmt.Fprintf(&text, head+"metadata: {name: 'n', namespace: shop}\nspec: {mtls: {mode: %s}}\n", namespace)
					}
					if mesh != "" {
						fmt.Fprintf(&text, head+"metadata: {name: m, namespace: istio-system}\nspec: {selector: {}, mtls: {mode: %s}}\n", mesh)
					}
					text.WriteString(head + "metadata: {name: other, namespace: other}\nspec: {mtls: {mode: DISABLE}}\n")
					ps, err := parseText(t, text.String())
					if err != nil {
						t.Fatal(err)
					}
					if err := Check(ps, in, "istio-system"); err != nil {
						t.Fatal(err)
					}
					c, want, by := Compose(ps, in.Workload, "istio-system"), plainMode(mesh, namespace, workload, port), plainDecider(mesh, namespace, workload+port)
					if got, decider := c.Mode(80), c.ModeBy(80); got != want || !strings.HasPrefix(decider, by) || by == "" && decider != "" {
						t.Errorf("mesh %q, namespace %q, workload %q, port %q: %s by %q, want %s by %q", mesh, namespace, workload, port, got, decider, want, by)
					}
					asked++
				}
			}
		}
	}
	if asked != 625 {
		t.Errorf("%d combinations were asked", asked)
	}
}

// TestOldestWins holds which of several policies about the same Istio takes, in each order of
// the files.
func TestOldestWins(t *testing.T) {
	t.Parallel()
	one := func(name, time, mode string) string {
		at := ""
		if time != "" {
			at = ", creationTimestamp: '" + time + "'"
		}
		return head + "metadata: {name: " + name + ", namespace: shop" + at + "}\nspec: {mtls: {mode: " + mode + "}}\n"
	}
	in := policy.Inbound{Workload: policy.Workload{Name: "w", Namespace: "shop"}, Port: 80}
	for _, tt := range []struct {
		name    string
		texts   []string
		want    mtls.Mode
		refused bool
	}{
		{"the older", []string{one("b", "2026-01-01T00:00:00Z", "STRICT"), one("a", "2026-01-02T00:00:00Z", "DISABLE")}, mtls.Strict, false},
		{"zones", []string{one("b", "2026-01-01T12:00:00+02:00", "STRICT"), one("a", "2026-01-01T11:00:00Z", "DISABLE")}, mtls.Strict, false},
		{"the name, at one time", []string{one("b", "2026-01-01T00:00:00Z", "STRICT"), one("a", "2026-01-01T00:00:00Z", "DISABLE")}, mtls.Disable, false},
		{"a name and a longer one, at one time", []string{one("default-strict", "2026-01-01T00:00:00Z", "STRICT"), one("default", "2026-01-01T00:00:00Z", "DISABLE")}, mtls.Disable, false},
		{"three", []string{one("c", "2026-01-03T00:00:00Z", "STRICT"), one("b", "2026-01-02T00:00:00Z", "PERMISSIVE"), one("a", "2026-01-01T00:00:00Z", "DISABLE")}, mtls.Disable, false},
		{"no time, and alike", []string{one("b", "", "STRICT"), one("a", "", "STRICT")}, mtls.Strict, false},
		{"no time", []string{one("b", "", "STRICT"), one("a", "", "DISABLE")}, 0, true},
		{"one without a time", []string{one("b", "2026-01-01T00:00:00Z", "STRICT"), one("a", "", "DISABLE")}, 0, true},
	} {
		for range 2 {
			slices.Reverse(tt.texts)
			ps, err := parseText(t, strings.Join(tt.texts, ""))
			if err != nil {
				t.Fatal(err)
			}
			if err := Check(ps, in, "istio-system"); (err != nil) != tt.refused {
				t.Errorf("%s: %v", tt.name, err)
			}
			c := Compose(ps, in.Workload, "istio-system")
			if got := c.Mode(80); !tt.refused && got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
			if len(c.Rivals) != len(ps)-1 || len(c.Ignored) != len(ps)-1 {
				t.Errorf("%s: %d policies are displaced, and %q", tt.name, len(c.Rivals), c.Ignored)
			}
		}
	}
}

// TestLint holds the warnings.
func TestLint(t *testing.T) {
	t.Parallel()
	in := policy.Inbound{Workload: policy.Workload{Name: "w", Namespace: "shop", Labels: map[string]string{"app": "w"}}, Port: 80}
	for text, want := range map[string]string{
		"metadata: {name: a, namespace: shop}\nspec: {selector: {matchLabels: {app: w}}, portLevelMtls: {80: {mode: STRICT}}}": "",
		"metadata: {name: a, namespace: shop}\nspec: {selector: {matchLabels: {app: w}}, portLevelMtls: {81: {mode: STRICT}}}": "p.yaml:5: spec.portLevelMtls[\"81\"]: port-of-no-inbound: ",
		"metadata: {name: a, namespace: shop}\nspec: {selector: {matchLabels: {app: x}}, mtls: {mode: STRICT}}":                "p.yaml:2: selects-nothing: ",
		"metadata: {name: a, namespace: istio-system}\nspec: {selector: {matchLabels: {app: w}}, mtls: {mode: STRICT}}":        "p.yaml:5: spec.selector: selector-in-root-namespace: ",
		"metadata: {name: b, namespace: shop}\n" + head + "metadata: {name: a, namespace: shop}\nspec: {mtls: {mode: UNSET}}":  "p.yaml:2: younger-than-another: shop/a (p.yaml:6) ",
	} {
		ps, err := parseText(t, head+text+"\n")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, w := range Lint(ps, []policy.Inbound{in}, "istio-system") {
			got = cmp.Or(got, fmt.Sprintf("%s: %s: %s", w.Place, w.Kind, w.Message))
		}
		if !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestTargets holds that each target selects what it makes of an inbound.
func TestTargets(t *testing.T) {
	t.Parallel()
	ps, err := parseText(t, head+"metadata: {name: a, namespace: shop}\nspec: {selector: {matchLabels: {app: w}}, portLevelMtls: {80: {mode: STRICT}, 81: {}}}\n"+
		head+"metadata: {name: m, namespace: istio-system}\n"+head+"metadata: {name: r, namespace: istio-system}\nspec: {selector: {matchLabels: {app: w}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	targets := Targets(ps, "istio-system")
	if len(targets) != 5 {
		t.Errorf("%d targets, want three ports, the mesh, and one that selects nothing", len(targets))
	}
	for _, target := range targets {
		if reason := target.Miss(target.Fit(policy.Inbound{Port: 8080})); (reason != nil) != target.Inert {
			t.Errorf("%s: %q", target.Key, reason)
		}
	}
}
