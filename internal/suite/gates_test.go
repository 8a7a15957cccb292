package suite

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

const (
	mallory   = "spiffe://trust-domain.mesh/ns/default/sa/mallory"
	foreigner = "spiffe://trust-domain.mesh/ns/foreign/sa/foreigner"
)

func ruled(effect policy.Effect, origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: origin}, When: when}
}

// orderedGate returns a gate whose default verdict is named "default".
func orderedGate(layer policy.Layer, fallback policy.Effect, rules ...policy.Rule) policy.Gate {
	return policy.Gate{Layer: layer, Default: policy.Verdict{Effect: fallback, Origin: "default"}, Rules: rules}
}

// namedGate holds denies, allows or logs, as its default says.
func namedGate(layer policy.Layer, fallback policy.Effect, rules ...policy.Rule) policy.Gate {
	return policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: fallback}, Rules: rules}
}

func shadowGate(name string, behind int, g policy.Gate) policy.Gate {
	g.Name, g.Preceding = name, behind
	return g
}

// The conditions of the programs.
var (
	isMallory = attribute.Identity.Exact(mallory)
	inDefault = attribute.Identity.Prefix("spiffe://trust-domain.mesh/ns/default/")
	ofMallory = attribute.URISAN.Exact(mallory)
	ofDefault = attribute.URISAN.Prefix("spiffe://trust-domain.mesh/ns/default/")
	admin     = attribute.Path.Segments("/admin")
	deletes   = attribute.Method.Exact("DELETE")
	reads     = attribute.Method.Exact("GET")
)

// istioProgram denies, then allows, and would deny and allow otherwise.
func istioProgram() policy.Program {
	return policy.Program{
		Gates: []policy.Gate{
			namedGate(policy.L7, policy.Log, ruled(policy.Log, "audit", admin)),
			namedGate(policy.L7, policy.Allow, ruled(policy.Deny, "no-deletes", policy.And{admin, deletes}), ruled(policy.Deny, "no-mallory", ofMallory)),
			namedGate(policy.L7, policy.Deny, ruled(policy.Allow, "mesh", ofDefault)),
		},
		Shadows: []policy.Gate{
			shadowGate("dry_run_deny_", 1, namedGate(policy.L7, policy.Allow, ruled(policy.Deny, "no-admin", admin))),
			shadowGate("dry_run_allow_", 2, namedGate(policy.L7, policy.Deny, ruled(policy.Allow, "readers", reads))),
		},
	}
}

// gatePrograms have several gates or shadows on one layer.
var gatePrograms = map[string]struct {
	protocol policy.Protocol
	program  policy.Program
}{
	"two gates on L7": {policy.HTTP, policy.Program{Gates: []policy.Gate{
		orderedGate(policy.L7, policy.Allow, ruled(policy.Deny, "no-mallory", isMallory), ruled(policy.Deny, "no-deletes", policy.And{admin, deletes})),
		orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "mesh", inDefault)),
	}}},
	"two gates on L4": {policy.TCP, policy.Program{Gates: []policy.Gate{
		orderedGate(policy.L4, policy.Allow, ruled(policy.Deny, "no-mallory", isMallory)),
		orderedGate(policy.L4, policy.Deny, ruled(policy.Allow, "mesh", inDefault)),
	}}},
	"Cilium": {policy.HTTP2, policy.Program{Gates: []policy.Gate{
		namedGate(policy.L4, policy.Allow, ruled(policy.Deny, "no-mallory", ofMallory)),
		namedGate(policy.L4, policy.Deny, ruled(policy.Allow, "mesh", ofDefault)),
		orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "readers", reads)),
	}}},
	"Istio": {policy.HTTP, istioProgram()},
	"gates that log": {policy.HTTP, policy.Program{Gates: []policy.Gate{
		namedGate(policy.L4, policy.Log, ruled(policy.Log, "connections", ofMallory)),
		namedGate(policy.L4, policy.Deny, ruled(policy.Allow, "mesh", ofDefault)),
		namedGate(policy.L7, policy.Log, ruled(policy.Log, "audit", admin)),
		orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "readers", reads)),
	}}},
	"a gate that logs on L4": {policy.TCP, policy.Program{Gates: []policy.Gate{
		namedGate(policy.L4, policy.Log, ruled(policy.Log, "connections", ofMallory)),
		namedGate(policy.L4, policy.Deny, ruled(policy.Allow, "mesh", ofDefault)),
	}}},
	"shadows that disagree on L7": {policy.GRPC, policy.Program{
		Gates: []policy.Gate{orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "mesh", inDefault))},
		Shadows: []policy.Gate{
			shadowGate("open", 0, orderedGate(policy.L7, policy.Allow, ruled(policy.Deny, "no-mallory", isMallory))),
			shadowGate("closed", 0, orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "only-mallory", isMallory))),
		},
	}},
	"shadows that disagree on L4": {policy.TCP, policy.Program{
		Gates: []policy.Gate{orderedGate(policy.L4, policy.Deny, ruled(policy.Allow, "mesh", inDefault))},
		Shadows: []policy.Gate{
			shadowGate("open", 0, orderedGate(policy.L4, policy.Allow, ruled(policy.Deny, "no-mallory", isMallory))),
			shadowGate("closed", 0, orderedGate(policy.L4, policy.Deny, ruled(policy.Allow, "only-mallory", isMallory))),
		},
	}},
	"routes with two gates": {policy.HTTP, policy.Program{
		Gates: []policy.Gate{orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "mesh", inDefault))},
		Routes: []policy.Route{{
			Name: "admin", When: admin,
			Gates: []policy.Gate{
				orderedGate(policy.L7, policy.Allow, ruled(policy.Deny, "no-deletes", deletes)),
				namedGate(policy.L7, policy.Log, ruled(policy.Log, "audit", ofMallory)),
				orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "mallory", isMallory), ruled(policy.Allow, "mesh", inDefault)),
			},
			Shadows: []policy.Gate{
				shadowGate("open", 0, orderedGate(policy.L7, policy.Allow, ruled(policy.Deny, "no-mallory", isMallory))),
				shadowGate("closed", 0, orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "only-mallory", isMallory))),
			},
		}},
	}},
	"a shadow without a gate": {policy.HTTP, policy.Program{Shadows: []policy.Gate{orderedGate(policy.L7, policy.Deny, ruled(policy.Allow, "mesh", inDefault))}}},
	"nothing but logs":        {policy.HTTP, policy.Program{Gates: []policy.Gate{namedGate(policy.L7, policy.Log, ruled(policy.Log, "audit", admin))}}},
}

// playGates sends every kind of request to an inbound that the filters guard, and judges
// the evidence by the program. It returns the problems, of requests and of counters.
func playGates(t *testing.T, protocol policy.Protocol, program policy.Program, filters xds.Filters, kept bool) (problems []verdict.Problem, traces []policy.Trace) {
	t.Helper()
	td := spiffeid.RequireTrustDomainFromString("trust-domain.mesh")
	mesh := sharedEnvoy.Get(t).Mesh(t, harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{td}, Inbounds: []harness.Inbound{{
		Name: "in", Identity: spiffeid.RequireFromString("spiffe://trust-domain.mesh/ns/default/sa/backend"),
		Address: netip.MustParseAddrPort("10.0.0.7:8080"), Protocol: protocol, Filters: filters,
	}}})
	ca, err := mesh.Authority(td)
	if err != nil {
		t.Fatal(err)
	}
	var requests []harness.Request
	var asked []policy.Request
	for _, caller := range []string{frontend, mallory, foreigner} {
		svid, err := ca.Mint(spiffeid.RequireFromString(caller))
		if err != nil {
			t.Fatal(err)
		}
		r, seen := harness.Request{To: "in", Credential: svid}, policy.Request{URIs: []string{caller}}
		switch protocol {
		case policy.TCP:
			requests, asked = append(requests, r), append(asked, seen)
		case policy.GRPC:
			r.GRPC, seen.Method, seen.Path = "admin/Call", "POST", "/admin/Call"
			requests, asked = append(requests, r), append(asked, seen)
		default:
			for _, path := range []string{"/", "/admin/x"} {
				for _, method := range []string{"GET", "DELETE"} {
					r.Method, r.Path, seen.Method, seen.Path = method, path, method, path
					requests, asked = append(requests, r), append(asked, seen)
				}
			}
		}
	}
	send := mesh.Send
	if kept {
		send = mesh.Stream
	}
	batch, err := send(t.Context(), requests...)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range batch.Evidence {
		d, gates := policy.Explain(program, asked[i])
		traces = append(traces, gates...)
		expected := verdict.Judged{
			Seen: asked[i], Decision: d, Second: d, Gates: gates,
			Ungated: !slices.ContainsFunc(program.Gates, func(g policy.Gate) bool { return !g.Logs() }),
		}
		want := cases.Allow
		if d.Effect == policy.Deny {
			want = cases.Deny
		}
		problems = append(problems, verdict.Judge(expected, verdict.Stated{Want: want}, e).Problems...)
	}
	if want, moved := evidence.Count(batch.Evidence), batch.Filters["in"]; !slices.Equal(want, moved) {
		t.Errorf("the counters moved by %s, the access log adds up to %s", moved, want)
	}
	if sum := evidence.Sum(batch.Filters["in"]); sum != batch.Counters["in"] {
		t.Errorf("the counters of all filters add up to %s, not %s", sum, batch.Counters["in"])
	}
	return problems, traces
}

// Envoy decides, logs and observes each gate as the program does, over fresh and over kept
// connections. Each gate has to let a request pass and to refuse another. Each shadow and
// each gate that logs has to report both.
func TestSeveralGates(t *testing.T) {
	t.Parallel()
	for name, tt := range gatePrograms {
		filters, err := xds.Compile(tt.program)
		if err != nil {
			t.Fatal(err)
		}
		for _, kept := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/kept %t", name, kept), func(t *testing.T) {
				t.Parallel()
				problems, traces := playGates(t, tt.protocol, tt.program, filters, kept)
				for _, p := range problems {
					t.Error(p)
				}
				said := map[string]map[bool]bool{}
				for _, trace := range traces {
					gate := fmt.Sprintf("%t %s", trace.Shadow, policy.Program{Gates: []policy.Gate{trace.Gate}})
					if said[gate] == nil {
						said[gate] = map[bool]bool{}
					}
					if trace.Gate.Logs() {
						said[gate][trace.Verdict.Origin != ""] = true
					} else {
						said[gate][trace.Verdict.Effect == policy.Allow] = true
					}
				}
				for gate, both := range said {
					if len(both) != 2 {
						t.Errorf("all requests get one answer of the gate:\n%s", gate)
					}
				}
			})
		}
	}
}

// The runner finds a compiler that loses, swaps, adds or renames a filter of any gate.
func TestChangedGatesAreFound(t *testing.T) {
	t.Parallel()
	const audit, deny, allow = 0, 1, 2
	for name, tt := range map[string]struct {
		// The first function changes the program before it is compiled, the second the filters.
		program func(*policy.Program)
		filters func(*xds.Filters)
		want    []verdict.Kind
	}{
		"the deny gate is lost": {program: func(p *policy.Program) {
			p.Gates = slices.Delete(p.Gates, deny, deny+1)
			p.Shadows[1].Preceding = 1
		}, want: []verdict.Kind{verdict.OtherWant, verdict.OtherDecision, verdict.OtherShadow, verdict.OtherFilters, verdict.OtherShadows}},
		"the allow gate is lost": {program: func(p *policy.Program) { p.Gates = p.Gates[:allow] },
			want: []verdict.Kind{verdict.OtherWant, verdict.OtherDecision, verdict.OtherFilters}},
		"the gate that logs is lost": {program: func(p *policy.Program) {
			p.Gates = p.Gates[1:]
			p.Shadows[0].Preceding, p.Shadows[1].Preceding = 0, 1
		}, want: []verdict.Kind{verdict.OtherFilters}},
		"two gates are swapped": {program: func(p *policy.Program) {
			p.Gates[deny], p.Gates[allow] = p.Gates[allow], p.Gates[deny]
		}, want: []verdict.Kind{verdict.OtherDecision, verdict.OtherShadow, verdict.OtherFilters, verdict.OtherShadows}},
		"the log logs otherwise": {program: func(p *policy.Program) { p.Gates[audit].Rules[0].When = policy.Always },
			want: []verdict.Kind{verdict.OtherFilters}},
		"a shadow is lost": {program: func(p *policy.Program) { p.Shadows = p.Shadows[:1] },
			want: []verdict.Kind{verdict.OtherShadow, verdict.OtherShadows}},
		"two shadows are swapped": {program: func(p *policy.Program) {
			p.Shadows[0].Name, p.Shadows[1].Name = p.Shadows[1].Name, p.Shadows[0].Name
		}, want: []verdict.Kind{verdict.OtherShadows}},
		"two shadows share a prefix": {filters: func(f *xds.Filters) {
			for _, filter := range f.HTTP {
				filter.ShadowRulesStatPrefix = "dry_run_deny_"
			}
		}, want: []verdict.Kind{verdict.OtherShadows}},
		"a gate is asked twice": {filters: func(f *xds.Filters) { f.HTTP = append(f.HTTP, f.HTTP[allow]) },
			want: []verdict.Kind{verdict.OtherFilters, verdict.OtherShadows}},
		// The listener gives each filter a prefix of its own. It replaces the prefix of the compiler.
		"two filters share a prefix": {filters: func(f *xds.Filters) {
			for _, filter := range f.HTTP {
				filter.RulesStatPrefix = "same_"
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := istioProgram()
			if tt.program != nil {
				tt.program(&p)
			}
			filters, err := xds.Compile(p)
			if err != nil {
				t.Fatal(err)
			}
			if tt.filters != nil {
				tt.filters(&filters)
			}
			problems, _ := playGates(t, policy.HTTP, istioProgram(), filters, true)
			var kinds []verdict.Kind
			for _, problem := range problems {
				kinds = append(kinds, problem.Kind)
			}
			slices.Sort(kinds)
			if diff := cmp.Diff(tt.want, slices.Compact(kinds)); diff != "" {
				t.Errorf("kinds of problems (-want +got):\n%s%v", diff, problems)
			}
		})
	}
}

// A matcher that asks for the peer, where the inbound trusts a header, is no fault of the machine: the
// lab cannot play it, and says so.
func TestAPeerThatCannotBePlayedIsNotVerified(t *testing.T) {
	t.Parallel()
	from := policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: "10.0.0.0/8"}}
	filters, err := xds.Compile(policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Ordered, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: from}}}}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(head, "port: 8080", "port: 8080, xffTrustedHops: 1", 1) + ask
	r := Runner{Harness: sharedEnvoy.Get(t), Compiler: bent(func(f *xds.Filters) { *f = filters }), AnyNames: true}.Case(t.Context(), casetest.Parse(t, text))
	if r.Fault || r.Err == nil || !strings.HasPrefix(r.Err.Error(), "not verified: backend/http-port: ") {
		t.Errorf("fault %t: %v", r.Fault, r.Err)
	}
}
