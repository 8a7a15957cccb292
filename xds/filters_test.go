package xds

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// manyIdentities asks for more identities exactly than a list is good for.
func manyIdentities() policy.Program {
	var denied, allowed policy.Or
	for i := range 5 {
		denied = append(denied, is(fmt.Sprintf("spiffe://td.mesh/ns/a/sa/denied-%d", i)))
		allowed = append(allowed, is(fmt.Sprintf("spiffe://td.mesh/ns/a/sa/allowed-%d", i)))
	}
	both := is("spiffe://td.mesh/ns/a/sa/denied-0")
	return enforce(policy.L7,
		deny("deny", denied),
		deny("no-admin", attribute.Path.Segments("/admin")),
		allow("readers", policy.Or{append(allowed, both), policy.And{is("spiffe://td.mesh/ns/b/sa/reader"), attribute.Method.Exact("GET")}}),
		allow("allow", append(allowed, both, policy.And{is("spiffe://td.mesh/ns/b/sa/reader"), attribute.Method.Exact("GET")})),
		deny("sandbox", policy.And{hasPrefix("spiffe://td.mesh/ns/b/"), attribute.Method.Exact("POST")}),
		allow("rest", hasPrefix("spiffe://td.mesh/ns/b/")),
	)
}

// endpointRules asks for ports and addresses, alone and in ranges and blocks.
func endpointRules() []policy.Rule {
	in := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	return []policy.Rule{
		allow("a-port", attribute.DestinationPort.Exact("8080")),
		allow("b-range", in(attribute.DestinationPort, policy.Range, "8000-8999")),
		allow("c-source", policy.And{in(attribute.SourceAddress, policy.CIDR, "10.0.0.0/8"), policy.Not{Condition: in(attribute.SourceAddress, policy.CIDR, "10.1.0.0/16")}}),
		allow("d-remote", policy.Or{attribute.RemoteAddress.Exact("2001:db8::7"), in(attribute.RemoteAddress, policy.CIDR, "2001:db8::/32")}),
	}
}

func TestCompileGolden(t *testing.T) {
	t.Parallel()
	a := is("spiffe://td.mesh/ns/a/sa/a")
	for name, p := range map[string]policy.Program{
		"two-policies-l4-accepted": twoPolicies(policy.L4, false),
		"two-policies-l4-precise":  twoPolicies(policy.L4, true),
		"two-policies-l7-accepted": twoPolicies(policy.L7, false),
		"two-policies-l7-precise":  twoPolicies(policy.L7, true),
		"attributes": enforce(policy.L7,
			allow("exact", attribute.Path.Exact("/metrics")),
			allow("prefix", attribute.Path.Segments("/metrics/")),
			allow("root", attribute.Path.Segments("/")),
			allow("method", attribute.Method.Exact("GET")),
			allow("not", policy.Not{Condition: a}),
			allow("all", policy.And{a, attribute.Method.Exact("GET"), policy.Not{Condition: attribute.Path.Exact("/admin")}}),
		),
		"endpoint":       enforce(policy.L4, endpointRules()...),
		"endpoint-named": {Gates: []policy.Gate{{Form: policy.Named, Rules: endpointRules()}}},
		"lists-of-one": enforce(policy.L7,
			allow("one", policy.Or{policy.And{a}}),
			allow("neutral", policy.And{policy.Always, policy.Or{policy.Never, attribute.Method.Exact("GET")}}),
			allow("double", policy.Or{a, policy.Never, attribute.Method.Exact("GET")}),
			allow("never", policy.And{a, policy.Never}),
			allow("nobody", nil),
		),
		"always-ends-the-list": enforce(policy.L4,
			deny("first", a),
			allow("everybody", policy.Or{a, policy.Not{Condition: policy.Never}}),
			deny("hidden", hasPrefix("spiffe://")),
		),
		"permissions": {Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{
			// The method alone is a principal. Beside a server name it is a permission.
			allow("alone", policy.And{attribute.Method.Exact("GET"), attribute.URISAN.Exact("spiffe://td.mesh/a")}),
			allow("beside", policy.And{
				policy.Or{
					policy.And{attribute.Method.Exact("GET"), attribute.Path.Segments("/a"), attribute.SNI.Exact("web.example")},
					policy.Not{Condition: attribute.Path.Exact("/b")},
				},
				attribute.URISAN.Exact("spiffe://td.mesh/a"),
			}),
		}}}},
		"several-gates": severalGates(),
		"deny-all":      {Gates: []policy.Gate{{}}},
		"allow-all":     {Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Effect: policy.Allow, Origin: "default"}}}},
		"both-layers":   {Gates: []policy.Gate{enforce(policy.L4, allow("l4", a)).Gates[0], enforce(policy.L7, allow("l7", attribute.Method.Exact("GET"))).Gates[0]}},
		"identity-map":  manyIdentities(),
		"identity-map7": sevenIdentities(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for line := range strings.Lines(p.String()) {
				b.WriteString("# " + line)
			}
			f := mustCompile(t, p)
			for _, m := range f.Messages() {
				fmt.Fprintf(&b, "---\n# %s\n%s", m.ProtoReflect().Descriptor().FullName(), golden.YAML(t, m))
			}
			golden.Compare(t, "compile/"+name+".golden", b.String())
		})
	}
}

// sevenIdentities stays a list: a map would not pay.
func sevenIdentities() policy.Program {
	var or policy.Or
	for i := range 7 {
		or = append(or, is(fmt.Sprintf("spiffe://td.mesh/sa/%d", i)))
	}
	return enforce(policy.L4, allow("seven", or))
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	a := is("spiffe://td.mesh/a")
	l4, l7 := enforce(policy.L4, allow("p", a)).Gates[0], enforce(policy.L7, allow("p", a)).Gates[0]
	for name, tt := range map[string]struct {
		program policy.Program
		want    string
	}{
		"rule without origin":    {enforce(policy.L4, allow("", a)), "xds: compile: rule 0: it has no origin, and Envoy refuses an action without a name"},
		"unreachable without":    {enforce(policy.L4, allow("p", policy.Always), allow("", a)), ""},
		"default without origin": {policy.Program{Gates: []policy.Gate{{Default: policy.Verdict{Effect: policy.Allow}}}}, "xds: compile: default: it has no origin, and Envoy refuses an action without a name"},
		"origin is no text":      {enforce(policy.L4, allow("\xff", a)), `xds: compile: rule 0: its origin "\xff" is not valid UTF-8`},
		"value is no text":       {enforce(policy.L4, allow("p", policy.Not{Condition: policy.And{a, is("\xff")}})), `xds: compile: rule 0: "\xff" is not valid UTF-8`},
		"L7 condition on L4":     {enforce(policy.L4, allow("p", attribute.Method.Exact("GET"))), `xds: compile: policy: rule allow by p: condition "method = \"GET\"" cannot be judged by an L4 gate`},
		"L4 behind L7":           {policy.Program{Gates: []policy.Gate{l7, l4}}, "xds: compile: the program has an L4 gate behind an L7 gate, but Envoy judges a connection first"},
		"two shadows":            {policy.Program{Gates: []policy.Gate{l4}, Shadows: []policy.Gate{l4, l4}}, `xds: compile: policy: two shadows have the name "": give each a name of its own`},
		"shadow rule without origin": {policy.Program{Gates: []policy.Gate{l4}, Shadows: enforce(policy.L4, deny("", a)).Gates},
			"xds: compile: rule 0: it has no origin, and Envoy refuses an action without a name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Compile(tt.program)
			if got := fmt.Sprint(err); err == nil && tt.want != "" || err != nil && got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
