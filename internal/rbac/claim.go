package rbac

import (
	"slices"
	"strconv"
	"unicode/utf8"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	metadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/metadata/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

const (
	// TokenFilter is the filter that verifies tokens, and the namespace of its dynamic
	// metadata.
	TokenFilter = "envoy.filters.http.jwt_authn"
	// TokenPayload is the key of the payload in that metadata.
	TokenPayload = "payload"
)

// A claim is dynamic metadata that the filter for tokens wrote. No permission is needed: a
// principal looks at the same metadata.
var _ = addFamily("claim", &family{
	row: func(a *policy.Attribute) row {
		path, form := claim.Path(a.Key)
		if slices.ContainsFunc(path, func(segment string) bool { return !utf8.ValidString(segment) }) {
			// A payload is JSON, which has no such name.
			return row{since: "1.36.4", never: func(policy.Match) bool { return true }}
		}
		keys := append([]string{TokenPayload}, path...)
		input := inputOf(dynamicMetadata(keys))
		return row{
			since: "1.36.4",
			never: func(m policy.Match) bool {
				scalar := form == claim.Scalar || form == claim.ScalarList
				return scalar && m.Kind == policy.Exact && token.ScalarText(m.Value) != m.Value
			},
			predicate: func(m policy.Match) *predicateProto {
				return metadataPredicate(input, metadataValue(m, form))
			},
			principal: func(m policy.Match) *rbacv3.Principal {
				return &rbacv3.Principal{Identifier: &rbacv3.Principal_SourcedMetadata{SourcedMetadata: &rbacv3.SourcedMetadata{
					MetadataMatcher: metadataMatcher(keys, metadataValue(m, form)),
				}}}
			},
		}
	},
	// Metadata is compared by more than a text, so that package lift reads it by itself.
	shown: func(proto.Message) *policy.Attribute { return nil },
})

// ShownByClaim returns the attribute of the metadata at a path, and nil where another filter
// than that for tokens wrote it.
func ShownByClaim(filter string, keys []string) *policy.Attribute {
	if filter != TokenFilter || len(keys) < 2 || keys[0] != TokenPayload {
		return nil
	}
	return attribute.Claim(keys[1:]...)
}

func dynamicMetadata(keys []string) *networkinputsv3.DynamicMetadataInput {
	in := &networkinputsv3.DynamicMetadataInput{Filter: TokenFilter}
	for _, key := range keys {
		in.Path = append(in.Path, &networkinputsv3.DynamicMetadataInput_PathSegment{
			Segment: &networkinputsv3.DynamicMetadataInput_PathSegment_Key{Key: key},
		})
	}
	return in
}

func metadataMatcher(keys []string, value *envoymatcherv3.ValueMatcher) *envoymatcherv3.MetadataMatcher {
	m := &envoymatcherv3.MetadataMatcher{Filter: TokenFilter, Value: value}
	for _, key := range keys {
		m.Path = append(m.Path, &envoymatcherv3.MetadataMatcher_PathSegment{
			Segment: &envoymatcherv3.MetadataMatcher_PathSegment_Key{Key: key},
		})
	}
	return m
}

// metadataValue compares a text, each text of a list, or a value of another kind.
func metadataValue(m policy.Match, form string) *envoymatcherv3.ValueMatcher {
	var value *envoymatcherv3.ValueMatcher
	switch form {
	case claim.Any:
		return &envoymatcherv3.ValueMatcher{MatchPattern: &envoymatcherv3.ValueMatcher_PresentMatch{PresentMatch: true}}
	case claim.Scalar, claim.ScalarList:
		value = scalarValue(m)
	default:
		value = &envoymatcherv3.ValueMatcher{MatchPattern: &envoymatcherv3.ValueMatcher_StringMatch{StringMatch: envoyString(m)}}
	}
	if form != claim.List && form != claim.ScalarList {
		return value
	}
	return &envoymatcherv3.ValueMatcher{MatchPattern: &envoymatcherv3.ValueMatcher_ListMatch{ListMatch: &envoymatcherv3.ListMatcher{
		MatchPattern: &envoymatcherv3.ListMatcher_OneOf{OneOf: value},
	}}}
}

func scalarValue(m policy.Match) *envoymatcherv3.ValueMatcher {
	if m.Kind == policy.Range {
		from, to, _ := claim.Interval(m.Value)
		return doubleValue(&envoymatcherv3.DoubleMatcher{MatchPattern: &envoymatcherv3.DoubleMatcher_Range{Range: &typev3.DoubleRange{Start: from, End: to}}})
	}
	switch text := m.Value; text {
	case "null":
		return &envoymatcherv3.ValueMatcher{MatchPattern: &envoymatcherv3.ValueMatcher_NullMatch_{NullMatch: &envoymatcherv3.ValueMatcher_NullMatch{}}}
	case "true", "false":
		return &envoymatcherv3.ValueMatcher{MatchPattern: &envoymatcherv3.ValueMatcher_BoolMatch{BoolMatch: text == "true"}}
	}
	// The text of another value is none that a claim has, see the column never.
	number, _ := strconv.ParseFloat(m.Value, 64)
	return doubleValue(&envoymatcherv3.DoubleMatcher{MatchPattern: &envoymatcherv3.DoubleMatcher_Exact{Exact: number}})
}

func doubleValue(m *envoymatcherv3.DoubleMatcher) *envoymatcherv3.ValueMatcher {
	return &envoymatcherv3.ValueMatcher{MatchPattern: &envoymatcherv3.ValueMatcher_DoubleMatch{DoubleMatch: m}}
}

func metadataPredicate(in *xdscorev3.TypedExtensionConfig, value *envoymatcherv3.ValueMatcher) *predicateProto {
	return &predicateProto{MatchType: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_{
		SinglePredicate: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate{
			Input: in,
			Matcher: &matcherv3.Matcher_MatcherList_Predicate_SinglePredicate_CustomMatch{CustomMatch: &xdscorev3.TypedExtensionConfig{
				Name:        "envoy.matching.matchers.metadata_matcher",
				TypedConfig: mustAny(&metadatav3.Metadata{Value: value}),
			}},
		},
	}}
}
