package differential_test

import (
	"context"
	"slices"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// faulty compiles what the policies come to, with a mistake in each gate.
func faulty(mistake func(*policy.Gate)) suite.Compiler {
	return suite.CompilerFunc(func(_ context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		set, err := dialect.Parse(policies, opts)
		if err != nil {
			return xds.Filters{}, err
		}
		p := set.Program(in).Program
		p.Gates = slices.Clone(p.Gates)
		for i := range p.Gates {
			p.Gates[i].Rules = slices.Clone(p.Gates[i].Rules)
			mistake(&p.Gates[i])
		}
		return xds.Compile(p)
	})
}

// denyBehindAllow asks for the allows first.
func denyBehindAllow(g *policy.Gate) {
	slices.SortStableFunc(g.Rules, func(a, b policy.Rule) int { return int(b.Effect) - int(a.Effect) })
}

// exactAsPrefix compares the beginning where the whole is meant.
func exactAsPrefix(g *policy.Gate) {
	for i := range g.Rules {
		g.Rules[i].When = asPrefix(g.Rules[i].When)
	}
}

func asPrefix(c policy.Condition) policy.Condition {
	return policy.Rewrite(c, policy.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.Identity {
			return attribute.Identity.Prefix(is.Match.Value)
		}
		return c
	}))
}

// lastLost leaves out the last rule.
func lastLost(g *policy.Gate) { g.Rules = g.Rules[:max(len(g.Rules)-1, 0)] }

// unparsable is well formed, and Envoy refuses it: its regular expression does not parse.
func unparsable(f xds.Filters) (xds.Filters, error) {
	one, err := xds.Compile(policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Rules: []policy.Rule{
		{Verdict: policy.Verdict{Origin: "spoilt"}, When: attribute.Identity.Exact("(")},
	}}}})
	if err != nil {
		return xds.Filters{}, err
	}
	predicate := one.HTTP[0].Matcher.GetMatcherList().Matchers[0].Predicate
	predicate.GetSinglePredicate().Matcher = &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
			EngineType: &matcherv3.RegexMatcher_GoogleRe2{GoogleRe2: &matcherv3.RegexMatcher_GoogleRE2{}}, Regex: "(",
		}},
	}}
	f.HTTP[0].Matcher.GetMatcherList().Matchers[0].Predicate = predicate
	return f, nil
}
