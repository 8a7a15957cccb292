package classes_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestForwarded cuts requests by the remote address behind trusted proxies, beside the peer's
// address. Each decision has a witness that the header makes, and a gate on L4 knows no header.
func TestForwarded(t *testing.T) {
	t.Parallel()
	in := func(a *policy.Attribute, block string) policy.Is {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: policy.CIDR, Value: block}}
	}
	rule := func(origin string, effect policy.Effect, when policy.Condition) policy.Rule {
		return policy.Rule{Verdict: policy.Verdict{Effect: effect, Origin: origin}, When: when}
	}
	gate := func(layer policy.Layer, rules ...policy.Rule) policy.Gate {
		return policy.Gate{Layer: layer, Rules: rules, Default: policy.Verdict{Origin: "default"}}
	}
	block := in(attribute.RemoteAddress, "203.0.113.0/24")
	both := policy.And{block, in(attribute.SourceAddress, "10.0.0.0/8")}
	for name, tt := range map[string]struct {
		program policy.Program
		hops    int
		want    []string
	}{
		"no header":      {policy.Program{Gates: []policy.Gate{gate(policy.L7, rule("both", policy.Allow, both))}}, 0, []string{"default"}},
		"one hop":        {policy.Program{Gates: []policy.Gate{gate(policy.L7, rule("both", policy.Allow, both))}}, 1, []string{"both", "default"}},
		"three hops":     {policy.Program{Gates: []policy.Gate{gate(policy.L7, rule("both", policy.Allow, both), rule("other", policy.Allow, block))}}, 3, []string{"both", "default", "other"}},
		"not its peer":   {policy.Program{Gates: []policy.Gate{gate(policy.L7, rule("a", policy.Allow, policy.And{block, policy.Not{Condition: in(attribute.SourceAddress, "203.0.113.0/24")}}))}}, 1, []string{"a", "default"}},
		"network filter": {policy.Program{Gates: []policy.Gate{gate(policy.L4, rule("early", policy.Allow, in(attribute.RemoteAddress, "10.0.0.0/8"))), gate(policy.L7, rule("late", policy.Allow, block))}}, 1, []string{"default", "late"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cover := classes.Cut(classes.Surface{Protocol: policy.HTTP, TrustedHops: tt.hops}, tt.program)
			if !cover.Complete() {
				t.Errorf("sampled: %q", cover.Sampled)
			}
			found := map[string]bool{}
			for i, c := range cover.Classes {
				found[policy.Decide(tt.program, c.Witness).Origin] = true
				if at, ok := cover.Locate(c.Witness); !ok || at != i {
					t.Errorf("the witness of class %d is in class %d", i, at)
				}
				for _, n := range cover.Neighbours(i) {
					remote, ok := forwarded.Address(tt.hops, n.Request.Headers)
					if remote != n.Request.Remote || ok != n.Request.Remote.IsValid() {
						t.Errorf("%s: the header says %s, the request %s", n.Why, remote, n.Request.Remote)
					}
					if n.Class != classes.Unclassed && policy.Decide(tt.program, n.Request) != policy.Decide(tt.program, cover.Classes[n.Class].Witness) {
						t.Errorf("%s: %+v is decided otherwise than class %d", n.Why, n.Request, n.Class)
					}
				}
			}
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, tt.want) {
				t.Errorf("decided by %q, want %q", got, tt.want)
			}
		})
	}
}
