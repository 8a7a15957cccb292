package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// several is a program with a gate that logs, a gate of denies, a gate of allows, and shadows
// at different places.
func several() policy.Program {
	named := func(layer policy.Layer, fallback policy.Effect, rules ...policy.Rule) policy.Gate {
		return policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: fallback}, Rules: rules}
	}
	mesh, mallory := attribute.URISAN.Prefix("spiffe://td/"), attribute.URISAN.Exact("spiffe://td/mallory")
	admin := attribute.Path.Segments("/admin")
	dryRun := func(name string, behind int, g policy.Gate) policy.Gate {
		g.Name, g.Preceding = name, behind
		return g
	}
	return policy.Program{
		Gates: []policy.Gate{
			named(policy.L4, policy.Allow, rule(policy.Deny, "wall", mallory)),
			named(policy.L7, policy.Log, rule(policy.Log, "audit", admin)),
			named(policy.L7, policy.Allow, rule(policy.Deny, "no-admin", policy.And{admin, attribute.Method.Exact("DELETE")})),
			named(policy.L7, policy.Deny, rule(policy.Allow, "readers", attribute.Method.Exact("GET")), rule(policy.Allow, "writers", attribute.Method.Exact("DELETE"))),
		},
		Shadows: []policy.Gate{
			dryRun("connections", 0, named(policy.L4, policy.Deny, rule(policy.Allow, "mesh", mesh))),
			dryRun("deny", 2, named(policy.L7, policy.Allow, rule(policy.Deny, "no-reads", attribute.Method.Exact("GET")))),
			dryRun("allow", 3, named(policy.L7, policy.Deny, rule(policy.Allow, "all", policy.Always))),
		},
	}
}

func TestSeveralGatesText(t *testing.T) {
	t.Parallel()
	p := several()
	p.Routes = []policy.Route{{Name: "public", When: attribute.Path.Exact("/public"), Gates: several().Gates[1:3]}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "gates.golden", p.String())
}

func TestSeveralGates(t *testing.T) {
	t.Parallel()
	allowed := func(by string) policy.Verdict { return policy.Verdict{Effect: policy.Allow, Origin: by} }
	denied := func(by string) policy.Verdict { return policy.Verdict{Origin: by} }
	logged := func(by string) policy.Verdict { return policy.Verdict{Effect: policy.Log, Origin: by} }
	for name, tt := range map[string]struct {
		caller, method, path string
		want                 policy.Decision
		// gates and shadows are the verdicts of the gates and shadows that are asked, in order.
		gates, shadows []policy.Verdict
	}{
		"all gates let it pass": {
			"friend", "DELETE", "/a", policy.Decision{Verdict: allowed("writers"), Layer: policy.L7, Shadowed: true, Shadow: allowed("all")},
			[]policy.Verdict{allowed(""), logged(""), allowed(""), allowed("writers")}, []policy.Verdict{allowed("mesh"), allowed(""), allowed("all")},
		},
		"the connection is refused": {
			"mallory", "GET", "/a", policy.Decision{Verdict: denied("wall"), Layer: policy.L4, Shadowed: true, Shadow: allowed("mesh")},
			[]policy.Verdict{denied("wall")}, []policy.Verdict{allowed("mesh")},
		},
		"the gate of denies refuses": {
			"friend", "DELETE", "/admin/x", policy.Decision{Verdict: denied("no-admin"), Layer: policy.L7, Shadowed: true, Shadow: allowed("")},
			[]policy.Verdict{allowed(""), logged("audit"), denied("no-admin")}, []policy.Verdict{allowed("mesh"), allowed("")},
		},
		"no rule allows": {
			"friend", "PUT", "/admin", policy.Decision{Verdict: denied(""), Layer: policy.L7, Shadowed: true, Shadow: allowed("all")},
			[]policy.Verdict{allowed(""), logged("audit"), allowed(""), denied("")}, []policy.Verdict{allowed("mesh"), allowed(""), allowed("all")},
		},
		"one shadow denies": {
			"friend", "GET", "/admin", policy.Decision{Verdict: allowed("readers"), Layer: policy.L7, Shadowed: true, Shadow: denied("no-reads")},
			[]policy.Verdict{allowed(""), logged("audit"), allowed(""), allowed("readers")}, []policy.Verdict{allowed("mesh"), denied("no-reads"), allowed("all")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := policy.Request{URIs: []string{"spiffe://td/" + tt.caller}, Method: tt.method, Path: tt.path}
			got, traces := policy.Explain(several(), r)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
			var gates, shadows []policy.Verdict
			for _, trace := range traces {
				if trace.Shadow {
					shadows = append(shadows, trace.Verdict)
				} else {
					gates = append(gates, trace.Verdict)
				}
			}
			if diff := cmp.Diff(tt.gates, gates); diff != "" {
				t.Errorf("gates (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.shadows, shadows); diff != "" {
				t.Errorf("shadows (-want +got):\n%s", diff)
			}
		})
	}
}

// A gate that logs is after the gate that decides, or alone.
func TestLogGateNeverDecides(t *testing.T) {
	t.Parallel()
	audit := several().Gates[1]
	r := policy.Request{Method: "GET", Path: "/admin"}
	alone := policy.Decide(policy.Program{Gates: []policy.Gate{audit}}, r)
	if want := (policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}); alone != want {
		t.Errorf("alone: %+v, want %+v", alone, want)
	}
	behind := policy.Decide(policy.Program{Gates: []policy.Gate{several().Gates[3], audit}}, r)
	if want := (policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "readers"}, Layer: policy.L7}); behind != want {
		t.Errorf("behind: %+v, want %+v", behind, want)
	}
}

func TestCheckSeveralGates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		bend func(*policy.Program)
		want string
	}{
		"sound": {func(*policy.Program) {}, ""},
		"a deny among named allows": {func(p *policy.Program) { p.Gates[3].Rules[0].Effect = policy.Deny },
			`policy: rule deny by readers: beside the default "deny" a named rule has the effect "allow", and no rules within`},
		"an allow among named denies": {func(p *policy.Program) { p.Gates[2].Rules[0].Effect = policy.Allow },
			`policy: rule allow by no-admin: beside the default "allow" a named rule has the effect "deny", and no rules within`},
		"a deny among named logs": {func(p *policy.Program) { p.Gates[1].Rules[0].Effect = policy.Deny },
			`policy: rule deny by audit: beside the default "pass" a named rule has the effect "log", and no rules within`},
		"a log among named allows": {func(p *policy.Program) { p.Gates[3].Rules[0].Effect = policy.Log },
			"policy: rule log by readers: its gate decides: a rule that logs belongs to a gate that logs"},
		"a log in an ordered gate": {func(p *policy.Program) {
			p.Gates[3] = policy.Gate{Layer: policy.L7, Rules: []policy.Rule{rule(policy.Log, "audit", policy.Always)}}
		}, "policy: rule log by audit: its gate decides: a rule that logs belongs to a gate that logs"},
		"an ordered gate that logs": {func(p *policy.Program) {
			p.Gates[1] = policy.Gate{Layer: policy.L7, Default: policy.Verdict{Effect: policy.Log}}
		}, "policy: an L7 gate of ordered rules logs: a gate that logs has named rules"},
		"named rules with a named default": {func(p *policy.Program) { p.Gates[2].Default.Origin = "default" },
			"policy: a gate of named rules has a default without a name, it cannot say allow by default"},
		"a shadow that logs": {func(p *policy.Program) { p.Shadows[1] = p.Gates[1]; p.Shadows[1].Name = "audit" },
			`policy: shadow "audit" logs: a shadow decides nothing, a gate that logs is for that`},
		"two shadows of one name": {func(p *policy.Program) { p.Shadows[2].Name = "deny" },
			`policy: two shadows have the name "deny": give each a name of its own`},
		"shadows in another order": {func(p *policy.Program) { p.Shadows[1], p.Shadows[2] = p.Shadows[2], p.Shadows[1] },
			`policy: shadow "deny" stands in the list behind "allow", but Envoy asks it earlier: list shadows in the order of their places`},
		"a shadow behind no gate": {func(p *policy.Program) { p.Shadows[2].Preceding = 5 },
			`policy: shadow "allow" stands behind 5 gates: the program has 4`},
		"a shadow of L4 behind a gate of L7": {func(p *policy.Program) { p.Shadows[0].Preceding = 2 },
			`policy: shadow "connections" on L4 stands behind a gate on L7: Envoy judges a connection first`},
		"a gate with a name": {func(p *policy.Program) { p.Gates[0].Name = "wall" },
			`policy: gate 0 has the name "wall" and stands behind 0 gates: only a shadow says so`},
		"a route with two shadows of one name": {func(p *policy.Program) {
			p.Routes = []policy.Route{{Name: "r", When: attribute.Method.Exact("GET"), Gates: several().Gates[2:3], Shadows: []policy.Gate{p.Shadows[0]}}}
			p.Routes[0].Shadows[0].Layer = policy.L7
		}, `policy: two shadows have the name "connections": give each a name of its own`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := several()
			tt.bend(&p)
			got := ""
			if err := p.Check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
