package rbac

import (
	"cmp"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
)

type (
	predicateProto = matcherv3.Matcher_MatcherList_Predicate
	predicateList  = matcherv3.Matcher_MatcherList_Predicate_PredicateList
)

// inputNames are the names of the inputs. Envoy goes by their types, a name is for people.
var inputNames = map[string]string{
	"UriSanInput":                 "uri_san",
	"DnsSanInput":                 "dns_san",
	"HttpRequestHeaderMatchInput": "request_headers",
}

// inputOf names what a matcher looks at. All predicates share an input: to marshal one
// for each predicate would be most of the cost of compiling a large policy set.
func inputOf(m proto.Message) *xdscorev3.TypedExtensionConfig {
	message := string(m.ProtoReflect().Descriptor().Name())
	return &xdscorev3.TypedExtensionConfig{Name: "envoy.matching.inputs." + cmp.Or(inputNames[message], message), TypedConfig: mustAny(m)}
}

// predicate compiles a condition that [simplify] and [check] went over: it has no
// constants and no lists of less than two, both of which Envoy refuses, and each of its
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
		return rows[is.Attribute].predicate(is.Match)
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

// mustAny is for messages whose strings are known to be valid UTF-8, the only thing
// that marshalling can fail on.
func mustAny(m proto.Message) *anypb.Any {
	packed, err := anypb.New(m)
	if err != nil {
		panic(err)
	}
	return packed
}
