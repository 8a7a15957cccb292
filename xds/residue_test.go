package xds

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// TestCompileKeepsWhatIsLeft has programs of which a part is left to ask once the name of the
// caller, a condition that always holds, or an earlier rule of the same name is known. Random programs
// seldom have them.
func TestCompileKeepsWhatIsLeft(t *testing.T) {
	t.Parallel()
	name := func(i int) string { return fmt.Sprintf("spiffe://td.mesh/sa/%d", i) }
	path := func(i int) policy.Condition { return attribute.Path.Exact(fmt.Sprintf("/p%d", i)) }
	san := func(i int) policy.Condition { return attribute.URISAN.Exact(name(i)) }
	var byPath, long []policy.Rule
	for i := range 12 {
		byPath = append(byPath, allow(fmt.Sprintf("by-path-%d", i), policy.And{is(name(i)), path(i)}))
		long = append(long, allow(fmt.Sprintf("long-%d", i), policy.And{is(name(0)), path(i)}), allow(fmt.Sprintf("other-%d", i), is(name(i+1))))
	}
	nested := allow("nested", is(name(1)))
	for title, p := range map[string]policy.Program{
		"a path behind a name":              enforce(policy.L7, byPath...),
		"more paths than a map repeats":     enforce(policy.L7, long...),
		"rules within a rule for everybody": enforce(policy.L7, deny("first", is(name(2))), policy.Rule{Verdict: policy.Verdict{Effect: policy.Deny, Origin: "rest"}, When: policy.Always, Then: []policy.Rule{nested}}),
		"several rules of one name":         {Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{allow("p", san(1)), allow("p", san(2)), allow("q", path(2))}}}},
		"a path that has a query":           enforce(policy.L7, deny("query", attribute.Path.Exact("/p1?a")), allow("everybody", policy.Always)),
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			f := mustCompile(t, p)
			for caller := range 15 {
				for _, target := range []string{"/", "/p0", "/p1", "/p2", "/p8", "/p9", "/p11", "/p1?a", "/p1?b"} {
					r := policy.Request{URIs: []string{name(caller)}, Method: "GET", Path: target}
					got := AccessLog{}
					got.SetFilters(f.run(&r))
					if want := policy.Decide(p, r); decisionOf(got) != want {
						t.Errorf("%s of %s:\ngot  %+v\nwant %+v", target, name(caller), decisionOf(got), want)
					}
				}
			}
		})
	}
}
