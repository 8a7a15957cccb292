package rbac

import (
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/rewrite"
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

type (
	predicateProto = matcherv3.Matcher_MatcherList_Predicate
	predicateList  = matcherv3.Matcher_MatcherList_Predicate_PredicateList
)

// inputNames are the names of the inputs. Envoy goes by their types, a name is for people.
var inputNames = map[string]string{
	"UriSanInput":                 "uri_san",
	"DnsSanInput":                 "dns_san",
	"ServerNameInput":             "server_name",
	"DestinationPortInput":        "destination_port",
	"SourceIPInput":               "source_ip",
	"DirectSourceIPInput":         "direct_source_ip",
	"HttpRequestHeaderMatchInput": "request_headers",
	"DynamicMetadataInput":        "dynamic_metadata",
}

// inputOf names what a matcher looks at. All predicates share an input: to marshal one
// for each predicate would be most of the cost of compiling a large policy set.
func inputOf(m proto.Message) *xdscorev3.TypedExtensionConfig {
	message := string(m.ProtoReflect().Descriptor().Name())
	return &xdscorev3.TypedExtensionConfig{Name: "envoy.matching.inputs." + cmp.Or(inputNames[message], message), TypedConfig: mustAny(m)}
}

// predicate compiles a condition that [simplify] and [check] went over: it has no
// constants and no lists of less than two, since Envoy refuses both, and each of its
// attributes has a row.
func predicate(c policy.Condition) *predicateProto { return rewrite.Condition(c, predicateShape) }

var predicateShape = rewrite.Shape[*predicateProto]{
	And: func(of []*predicateProto) *predicateProto {
		return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_AndMatcher{AndMatcher: &predicateList{Predicate: of}}}
	},
	Or: func(of []*predicateProto) *predicateProto { return anyOf(of...) },
	Not: func(of *predicateProto) *predicateProto {
		return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_NotMatcher{NotMatcher: of}}
	},
	Leaf: func(c policy.Condition) *predicateProto {
		is, _ := c.(policy.Is)
		return rowOf(is.Attribute).predicate(is.Match)
	},
}

func anyOf(list ...*predicateProto) *predicateProto {
	return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_OrMatcher{OrMatcher: &predicateList{Predicate: list}}}
}

func single(in *xdscorev3.TypedExtensionConfig, value *matcherv3.StringMatcher) *predicateProto {
	return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_{
		SinglePredicate: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate{
			Input:   in,
			Matcher: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch{ValueMatch: value},
		},
	}}
}

func stringMatcher(m policy.Match) *matcherv3.StringMatcher {
	out := &matcherv3.StringMatcher{IgnoreCase: m.AnyCase}
	switch m.Kind {
	case policy.Prefix:
		out.MatchPattern = &matcherv3.StringMatcher_Prefix{Prefix: m.Value}
	case policy.Suffix:
		out.MatchPattern = &matcherv3.StringMatcher_Suffix{Suffix: m.Value}
	case policy.Contains:
		out.MatchPattern = &matcherv3.StringMatcher_Contains{Contains: m.Value}
	case policy.Present:
		out.MatchPattern = safeRegex(AnyBytes)
	case policy.Regex:
		out.MatchPattern = safeRegex(m.Value)
	default:
		out.MatchPattern = &matcherv3.StringMatcher_Exact{Exact: m.Value}
	}
	return out
}

func safeRegex(expression string) *matcherv3.StringMatcher_SafeRegex {
	return &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{
		EngineType: &matcherv3.RegexMatcher_GoogleRe2{GoogleRe2: &matcherv3.RegexMatcher_GoogleRE2{}}, Regex: expression,
	}}
}

func exact(value string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: value}}
}

func prefix(value string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: value}}
}

// mustAny is for messages whose strings are known to be valid UTF-8, the only thing
// that marshalling can fail on.
func mustAny(m proto.Message) *anypb.Any {
	packed, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	return packed
}
