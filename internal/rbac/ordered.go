package rbac

import (
	"errors"
	"fmt"
	"unicode/utf8"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/policy"
)

// Ordered turns a gate into an xds.type.matcher.v3.Matcher: its rules become a
// matcher_list in the same order, its default on_no_match. Identities compared exactly
// are taken out into a map where that pays, see [identityTree]. It returns an error for
// a rule without an origin and for a condition that a matcher cannot say.
func Ordered(gate policy.Gate) (*matcherv3.Matcher, error) {
	rules, fallback, err := reachable(gate)
	if err != nil {
		return nil, err
	}
	if tree := identityTree(rules, fallback); tree != nil {
		return tree, nil
	}
	return matcherList(rules, fallback), nil
}

// List is [Ordered] without the map of identities: every rule stands in the list.
func List(gate policy.Gate) (*matcherv3.Matcher, error) {
	rules, fallback, err := reachable(gate)
	if err != nil {
		return nil, err
	}
	return matcherList(rules, fallback), nil
}

// reachable simplifies the rules and ends the list at the first rule that always
// matches, which becomes the default: Envoy has no predicate that says "always"
// (a prefix must not be empty), and nothing behind such a rule can decide.
func reachable(gate policy.Gate) ([]policy.Rule, policy.Verdict, error) {
	if gate.Default != (policy.Verdict{}) {
		if err := checkOrigin(gate.Default.Origin); err != nil {
			return nil, policy.Verdict{}, fmt.Errorf("default: %w", err)
		}
	}
	return reachableRules(gate.Rules, gate.Default)
}

func reachableRules(from []policy.Rule, fallback policy.Verdict) ([]policy.Rule, policy.Verdict, error) {
	rules := make([]policy.Rule, 0, len(from))
	for i, rule := range from {
		if err := checkOrigin(rule.Origin); err != nil {
			return nil, policy.Verdict{}, fmt.Errorf("rule %d: %w", i, err)
		}
		when := simplify(rule.When)
		if when == policy.Never {
			continue
		}
		if err := check(when, policy.Ordered); err != nil {
			return nil, policy.Verdict{}, fmt.Errorf("rule %d: %w", i, err)
		}
		then, verdict, err := reachableRules(rule.Then, rule.Verdict)
		if err != nil {
			return nil, policy.Verdict{}, err
		}
		if when == policy.Always {
			return append(rules, then...), verdict, nil
		}
		rules = append(rules, policy.Rule{Verdict: verdict, When: when, Then: then})
	}
	return rules, fallback, nil
}

func checkOrigin(origin string) error {
	switch {
	case origin == "":
		return errors.New("it has no origin, and Envoy refuses an action without a name")
	case !utf8.ValidString(origin):
		return fmt.Errorf("its origin %q is not valid UTF-8", origin)
	default:
		return nil
	}
}

func matcherList(rules []policy.Rule, fallback policy.Verdict) *matcherv3.Matcher {
	m := &matcherv3.Matcher{OnNoMatch: action(fallback)}
	if len(rules) == 0 {
		return m
	}
	list := make([]*matcherv3.Matcher_MatcherList_FieldMatcher, len(rules))
	for i, rule := range rules {
		list[i] = &matcherv3.Matcher_MatcherList_FieldMatcher{
			Predicate: predicate(rule.When),
			OnMatch:   outcome(rule.Then, rule.Verdict),
		}
	}
	m.MatcherType = &matcherv3.Matcher_MatcherList_{MatcherList: &matcherv3.Matcher_MatcherList{Matchers: list}}
	return m
}

// action returns nil for a denial without a name: the RBAC engine does that by itself where
// nothing matches.
func action(v policy.Verdict) *matcherv3.Matcher_OnMatch {
	if v.Origin == "" {
		return nil
	}
	return &matcherv3.Matcher_OnMatch{OnMatch: &matcherv3.Matcher_OnMatch_Action{Action: &xdscorev3.TypedExtensionConfig{
		Name:        "envoy.filters.rbac.action",
		TypedConfig: packedAction(v),
	}}}
}

var actionType = mustAny(&rbacv3.Action{}).TypeUrl

// packedAction returns an envoy.config.rbac.v3.Action. There is one for each policy, and
// writing its two fields costs a tenth of the time of reflection.
func packedAction(v policy.Verdict) *anypb.Any {
	value := make([]byte, 0, len(v.Origin)+8)
	value = protowire.AppendTag(value, 1, protowire.BytesType)
	value = protowire.AppendString(value, v.Origin)
	if v.Effect != policy.Allow {
		value = protowire.AppendTag(value, 2, protowire.VarintType)
		value = protowire.AppendVarint(value, uint64(rbacv3.RBAC_DENY))
	}
	return &anypb.Any{TypeUrl: actionType, Value: value}
}
