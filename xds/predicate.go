package xds

import (
	"fmt"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/policy"
)

type (
	predicateProto = matcherv3.Matcher_MatcherList_Predicate
	predicateList  = matcherv3.Matcher_MatcherList_Predicate_PredicateList
)

// The inputs are shared by all predicates: marshalling one for each would be
// most of the cost of compiling a large policy set.
var (
	uriSAN       = input("envoy.matching.inputs.uri_san", mustAny(&sslinputsv3.UriSanInput{}))
	pathHeader   = header(":path")
	methodHeader = header(":method")
)

func header(name string) *xdscorev3.TypedExtensionConfig {
	return input("envoy.matching.inputs.request_headers", mustAny(&envoymatcherv3.HttpRequestHeaderMatchInput{HeaderName: name}))
}

// predicate compiles a condition that [simplify] went over: it has no constants
// and no lists of less than two, both of which Envoy refuses.
func predicate(c policy.Condition) *predicateProto {
	switch c := c.(type) {
	case policy.And:
		return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_AndMatcher{AndMatcher: predicates(c)}}
	case policy.Or:
		return anyOf(predicates(c).Predicate...)
	case policy.Not:
		return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_NotMatcher{NotMatcher: predicate(c.Of)}}
	case policy.Identity:
		return single(uriSAN, stringMatcher(policy.StringMatch(c)))
	case policy.Method:
		return single(methodHeader, exact(string(c)))
	case policy.Path:
		return path(c)
	default:
		panic(fmt.Sprintf("xds: condition %T is outside the closed set of package policy", c))
	}
}

func predicates(cs []policy.Condition) *predicateList {
	list := make([]*predicateProto, len(cs))
	for i, c := range cs {
		list[i] = predicate(c)
	}
	return &predicateList{Predicate: list}
}

// path spells out what a header input cannot: the pseudo header :path carries
// the query, and a prefix of bytes does not end at a segment.
func path(c policy.Path) *predicateProto {
	if c.Kind == policy.Exact {
		return anyOf(single(pathHeader, exact(c.Value)), single(pathHeader, prefix(c.Value+"?")))
	}
	segment := c.Segment()
	return anyOf(
		single(pathHeader, exact(segment)),
		single(pathHeader, prefix(segment+"/")),
		single(pathHeader, prefix(segment+"?")),
	)
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

func stringMatcher(m policy.StringMatch) *matcherv3.StringMatcher {
	if m.Kind == policy.Prefix {
		return prefix(m.Value)
	}
	return exact(m.Value)
}

func exact(value string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: value}}
}

func prefix(value string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: value}}
}
