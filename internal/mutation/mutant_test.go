package mutation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/mutation"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
)

const (
	friend = "spiffe://td/ns/shop/sa/friend"
	enemy  = "spiffe://td/ns/shop/sa/enemy"
)

// program denies an enemy. It allows the shop on one path and a friend on all paths. Its
// shadow denies all requests.
func program() policy.Program {
	return policy.Program{
		Gates: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}, Rules: []policy.Rule{
			{Verdict: policy.Verdict{Origin: "deny"}, When: attribute.Identity.Exact(enemy)},
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "path"}, When: policy.And{attribute.Identity.Prefix("spiffe://td/ns/shop/"), attribute.Path.Segments("/a")}},
			{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "friend"}, When: attribute.Identity.Exact(friend)},
		}}},
		Shadows: []policy.Gate{{Layer: policy.L7, Default: policy.Verdict{Origin: "shadow"}}},
	}
}

// always tells of a surface where the policies are asked about all requests.
func always(policy.Request) bool { return true }

func TestMutants(t *testing.T) {
	t.Parallel()
	mutants, excluded := mutation.Mutants(classes.Surface{}, always, program())
	var got []string
	for _, m := range mutants {
		got = append(got, m.Kind.String()+" at "+m.Where)
	}
	want := []string{
		"deny moved behind an allow at gate 1, rule 1 (deny by deny)",
		"exact turned prefix at gate 1, rule 1 (deny by deny)",
		"case of letters not compared at gate 1, rule 1 (deny by deny)",
		"wrong trust domain at gate 1, rule 1 (deny by deny)",
		"trust domain not compared at gate 1, rule 1 (deny by deny)",
		"alternative of another rule added at gate 1, rule 1 (deny by deny)",
		"and turned or at gate 1, rule 2 (allow by path)",
		"prefix turned exact at gate 1, rule 2 (allow by path)",
		"case of letters not compared at gate 1, rule 2 (allow by path)",
		"wrong trust domain at gate 1, rule 2 (allow by path)",
		"wrong trust domain at gate 1, rule 2 (allow by path)",
		"trust domain not compared at gate 1, rule 2 (allow by path)",
		"segments turned prefix at gate 1, rule 2 (allow by path)",
		"condition dropped at gate 1, rule 2 (allow by path)",
		"condition dropped at gate 1, rule 2 (allow by path)",
		"exact turned prefix at gate 1, rule 3 (allow by friend)",
		"case of letters not compared at gate 1, rule 3 (allow by friend)",
		"wrong trust domain at gate 1, rule 3 (allow by friend)",
		"trust domain not compared at gate 1, rule 3 (allow by friend)",
		"last rule lost at gate 1, rule 3 (allow by friend)",
		"rule lost at gate 1, rule 1 (deny by deny)",
		"rule lost at gate 1, rule 2 (allow by path)",
		"no-match inverted at gate 1, no match",
		"no-match dropped at gate 1, no match",
		"no-match inverted at shadow 1, no match",
		"no-match dropped at shadow 1, no match",
		"shadow swapped with enforced at L7",
		"wrong kind of filter at every filter",
		"stale trust bundle at the validation secret",
		"path without normalization at the listener",
	}
	if diff := cmp.Diff(want, got); diff != "" || excluded != (mutation.Exclusions{Equivalent: 2}) {
		t.Errorf("excluded: %+v (-want +got):\n%s", excluded, diff)
	}
	for _, m := range mutants {
		if _, err := m.Compile(); err != nil {
			t.Error(err)
		}
	}
}

// A match in any case makes one mistake at a time, and stays one in any case.
func TestMutantsKeepAnyCase(t *testing.T) {
	t.Parallel()
	p := program()
	when := attribute.Host.Exact("A")
	when.Match.AnyCase = true
	p.Gates[0].Rules[2].When = when
	mutants, excluded := mutation.Mutants(classes.Surface{}, always, p)
	kept := 0
	for _, m := range mutants {
		if m.Kind != mistake.ExactToPrefix || !strings.Contains(m.Where, "rule 3") {
			continue
		}
		is := m.Program.Gates[0].Rules[2].When.(policy.Is)
		if kept++; !is.Match.AnyCase || is.Match.Value != "A" {
			t.Errorf("%s at %s: %s", m.Kind, m.Where, is)
		}
	}
	if kept != 1 || excluded.Invalid > 0 {
		t.Errorf("%d mutants compare a beginning, %d are invalid", kept, excluded.Invalid)
	}
}

// TestEquivalentMutants shows that a change without another decision is no mutant.
func TestEquivalentMutants(t *testing.T) {
	t.Parallel()
	allow := policy.Verdict{Effect: policy.Allow, Origin: "p"}
	everybody := policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Default: allow, Rules: []policy.Rule{
		// The verdict and the name are the same as in the default.
		{Verdict: allow, When: attribute.Identity.Exact(friend)},
	}}}}
	mutants, excluded := mutation.Mutants(classes.Surface{Protocol: policy.TCP}, always, everybody)
	for _, m := range mutants {
		if m.Kind == mistake.ExactToPrefix || m.Kind == mistake.LastRuleLost {
			t.Errorf("%s at %s changes no decision", m.Kind, m.Where)
		}
	}
	if excluded != (mutation.Exclusions{Equivalent: 5}) {
		t.Errorf("excluded: %+v, want 5 equivalent mutants", excluded)
	}
	// A listener without normalization cannot lose it.
	raw := policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}
	mutants, _ = mutation.Mutants(classes.Surface{Normalization: raw}, always, program())
	if slices.ContainsFunc(mutants, func(m mutation.Mutant) bool { return m.Kind == mistake.RawPaths }) {
		t.Error("raw paths are no mistake on a listener without normalization")
	}
	// Without a policy, the only possible mistake is the trust bundle.
	mutants, _ = mutation.Mutants(classes.Surface{}, always, policy.Program{})
	if len(mutants) != 1 || mutants[0].Kind != mistake.StaleTrust {
		t.Errorf("%v", mutants)
	}
}

// TestMutantsAreBounded has a list of hundreds. Some mutants at both ends are enough.
func TestMutantsAreBounded(t *testing.T) {
	t.Parallel()
	var many policy.Or
	for i := range 600 {
		many = append(many, attribute.Identity.Exact("spiffe://td/"+strings.Repeat("a", i%50)+string(rune('a'+i/50%26))+strings.Repeat("b", i/1300)))
	}
	p := policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: many}}}}}
	mutants, excluded := mutation.Mutants(classes.Surface{Protocol: policy.TCP}, always, p)
	if n := len(mutants) + excluded.Equivalent + excluded.Invalid; n > 80 {
		t.Errorf("%d mutants", n)
	}
}

// mostRequests leaves out the case whose thousands of classes take minutes.
const mostRequests = 10_000

// TestProofsFindEveryMutant shows for every built-in case that its proof has a request that
// the mutant decides differently. It asks the oracle in Go. TestNothingSurvives asks Envoy.
// With -short the test takes one case of each story.
func TestProofsFindEveryMutant(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	found, least := 0, 1000
	if testing.Short() {
		all, least = sample(t), 100
	}
	for _, c := range all {
		if c.ExpectError != "" || len(c.Requests) == 0 {
			continue
		}
		p, err := proof.Plan(c)
		if err != nil {
			t.Fatal(err)
		}
		asked := p.Asked()
		if len(asked) > mostRequests {
			continue
		}
		for _, in := range p.Inbounds {
			program := in.Program
			mutants, _ := mutation.ProvenMutants(in.Inbound)
			for _, m := range mutants {
				if !slices.ContainsFunc(asked, func(q proof.Asked) bool { return q.To == in.String() && m.Changes(program, q) }) {
					t.Errorf("%s: %s: no request finds %s at %s", c.Place, in, m.Kind, m.Where)
				}
				found++
			}
		}
	}
	if found < least {
		t.Errorf("%d mutants in all", found)
	}
}

// TestEndpointMutants makes mistakes at the ends of ranges and blocks, and leaves an exception out.
func TestEndpointMutants(t *testing.T) {
	t.Parallel()
	in := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Condition {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	when := policy.And{
		in(attribute.DestinationPort, policy.Range, "8000-65535"), in(attribute.SourceAddress, policy.CIDR, "10.0.0.0/8"),
		policy.Not{Condition: in(attribute.SourceAddress, policy.CIDR, "10.1.0.0/16")},
	}
	gate := policy.Gate{Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: when}}}
	mutants, _ := mutation.Mutants(classes.Surface{Protocol: policy.TCP}, always, policy.Program{Gates: []policy.Gate{gate}})
	var got []string
	for _, m := range mutants {
		if m.Kind == mistake.EndMissed || m.Kind == mistake.ExceptionDropped {
			got = append(got, m.Kind.String()+": "+m.Program.Gates[0].Rules[0].When.String())
		}
	}
	want := []string{
		"end of a range missed: destination port in 8000-65534 and source address in 10.0.0.0/8 and not source address in 10.1.0.0/16",
		"end of a range missed: destination port in 8001-65535 and source address in 10.0.0.0/8 and not source address in 10.1.0.0/16",
		"end of a range missed: destination port in 7999-65535 and source address in 10.0.0.0/8 and not source address in 10.1.0.0/16",
		"end of a range missed: destination port in 8000-65535 and source address in 10.0.0.0/7 and not source address in 10.1.0.0/16",
		"end of a range missed: destination port in 8000-65535 and source address in 10.0.0.0/9 and not source address in 10.1.0.0/16",
		"end of a range missed: destination port in 8000-65535 and source address in 10.0.0.0/8 and not source address in 10.0.0.0/15",
		"end of a range missed: destination port in 8000-65535 and source address in 10.0.0.0/8 and not source address in 10.1.0.0/17",
		"exception dropped: destination port in 8000-65535 and source address in 10.0.0.0/8",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestMatchMutants makes mistakes in the comparison of one attribute.
func TestMatchMutants(t *testing.T) {
	t.Parallel()
	in := func(a *policy.Attribute, kind policy.MatchKind, value string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: kind, Value: value}}
	}
	anyCase := func(is policy.Is) policy.Is {
		is.Match.AnyCase = true
		return is
	}
	role := attribute.Header("x-role")
	for _, tt := range []struct {
		when policy.Condition
		want []string
	}{
		{policy.Not{Condition: in(role, policy.Suffix, "admin")}, []string{
			`suffix turned prefix: not a line of header x-role starts with "admin"`, `case of letters not compared: not a line of header x-role ends with "admin" in any case`, `not dropped: a line of header x-role ends with "admin"`,
		}},
		{in(attribute.Path, policy.Regex, `/a\.json`), []string{`regular expression not anchored: path matches the regex ".*(?:/a\\.json).*"`, `dot taken for any character: path matches the regex "/a.json"`, `case of letters not compared: path matches the regex "(?i)/a\\.json"`}},
		{role.Exact("a.b"), []string{
			`exact turned prefix: a line of header x-role starts with "a.b"`, `exact turned present: a line of header x-role is present`,
			`dot taken for any character: a line of header x-role matches the regex "a.b"`,
			`case of letters not compared: a line of header x-role = "a.b" in any case`,
		}},
		{anyCase(in(role, policy.Suffix, ".b")), []string{
			`suffix turned prefix: a line of header x-role starts with ".b" in any case`, `dot taken for any character: a line of header x-role matches the regex "(?i).*.b"`,
			`case of letters compared: a line of header x-role ends with ".b"`,
		}},
		{in(role, policy.Present, ""), []string{`present turned empty: a line of header x-role = ""`}},
		{in(role, policy.Contains, "b"), []string{
			`contains turned prefix: a line of header x-role starts with "b"`, `case of letters not compared: a line of header x-role contains "b" in any case`,
		}},
		{policy.Or{role.Exact("a"), role.Exact("b")}, []string{
			`or turned and over several values: a line of header x-role = "a" and a line of header x-role = "b"`,
			`exact turned prefix: a line of header x-role starts with "a" or a line of header x-role = "b"`, `exact turned present: a line of header x-role is present or a line of header x-role = "b"`,
			`case of letters not compared: a line of header x-role = "a" in any case or a line of header x-role = "b"`,
			`exact turned prefix: a line of header x-role = "a" or a line of header x-role starts with "b"`, `exact turned present: a line of header x-role = "a" or a line of header x-role is present`,
			`case of letters not compared: a line of header x-role = "a" or a line of header x-role = "b" in any case`,
			`alternative lost: a line of header x-role = "b"`, `alternative lost: a line of header x-role = "a"`,
		}},
		{attribute.Host.Exact("a:8080"), []string{
			`exact turned prefix: host starts with "a:8080"`, `exact turned present: host is present`, `port of a host ignored: host = "a"`,
			`case of letters not compared: host = "a:8080" in any case`,
		}},
		{attribute.Host.Exact("a"), []string{
			`exact turned prefix: host starts with "a"`, `exact turned present: host is present`, `port of a host ignored: host = "a" or host starts with "a:"`,
			`case of letters not compared: host = "a" in any case`,
		}},
		{attribute.Path.Segments("/a"), []string{`segments turned prefix: path starts with "/a"`}},
		{in(attribute.Path, policy.Template, "/a/{*}/b"), []string{`template turned prefix: path starts with "/a/"`}},
		{attribute.DestinationPort.Exact("80"), []string{`end of a range missed: destination port = "79"`, `end of a range missed: destination port = "81"`}},
		{attribute.SourceAddress.Exact("10.0.0.1"), []string{`end of a range missed: source address = "10.0.0.0"`, `end of a range missed: source address = "10.0.0.2"`}},
		{policy.And{policy.Is{Attribute: attribute.Claim("iss"), Match: policy.Match{Value: "i"}}, policy.Is{Attribute: attribute.Claim("sub"), Match: policy.Match{Value: "s"}}}, []string{
			`and turned or: claim iss = "i" or claim sub = "s"`, `exact turned prefix: claim iss starts with "i" and claim sub = "s"`,
			`case of letters not compared: claim iss = "i" in any case and claim sub = "s"`, `exact turned prefix: claim iss = "i" and claim sub starts with "s"`,
			`case of letters not compared: claim iss = "i" and claim sub = "s" in any case`,
			`claim not asked for: claim sub = "s"`, `claim not asked for: claim iss = "i"`,
		}},
		{attribute.URISAN.Prefix("spiffe://a.b/c.d"), []string{`prefix turned exact: a URI SAN = "spiffe://a.b/c.d"`, `dot taken for any character: a URI SAN matches the regex "spiffe://a\\.b/c.d.*"`,
			`case of letters not compared: a URI SAN starts with "spiffe://a.b/c.d" in any case`, `wrong trust domain: a URI SAN starts with "spiffe://cluster.local/c.d"`,
			`wrong trust domain: a URI SAN starts with "spiffe://c.d"`, `trust domain not compared: a URI SAN matches the regex "spiffe://[^/]+/c\\.d.*"`,
		}},
	} {
		gate := policy.Gate{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "p"}, When: tt.when}}}
		mutants, _ := mutation.Mutants(classes.Surface{}, always, policy.Program{Gates: []policy.Gate{gate}})
		var got []string
		for _, m := range mutants {
			if when := whenOf(m); when != nil && m.Fault == (suite.Fault{}) {
				got = append(got, m.Kind.String()+": "+when.String())
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.when, diff)
		}
	}
}

// whenOf returns the condition of the first rule, and nil where none is left.
func whenOf(m mutation.Mutant) policy.Condition {
	if len(m.Program.Gates) == 0 || len(m.Program.Gates[0].Rules) == 0 {
		return nil
	}
	return m.Program.Gates[0].Rules[0].When
}

// TestEveryCellIsMutated shows that a mistake is made in every kind of match that a form can say
// of an attribute, and that a request tells it.
func TestEveryCellIsMutated(t *testing.T) {
	t.Parallel()
	compiles := func(p policy.Program) error { _, err := xds.Compile(p); return err }
	n := 0
	for cell := range programtest.Cells(compiles) {
		n++
		mutants, _ := mutation.Mutants(classes.Surface{Protocol: policy.HTTP2}, always, cell.Allowing())
		if !slices.ContainsFunc(mutants, func(m mutation.Mutant) bool {
			when := whenOf(m)
			return when != nil && when != policy.Condition(cell.Is)
		}) {
			t.Errorf("no mistake is made in %q by %s rules", cell.Is, cell.Form)
		}
	}
	if n < 80 {
		t.Errorf("only %d cells", n)
	}
}
