package lift

import (
	"fmt"
	"math"
	"strconv"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// metadata compares dynamic metadata: a claim of a token, where the filter for tokens wrote
// it. Of other metadata no policy knows anything.
func (t *translator) metadata(m *envoymatcherv3.MetadataMatcher, at *messages.Path) reading {
	keys := make([]string, len(m.GetPath()))
	for i, segment := range m.GetPath() {
		keys[i] = segment.GetKey()
	}
	out := t.claim(m.GetFilter(), keys, m.GetValue(), at)
	if m.GetInvert() {
		return negated(out)
	}
	return out
}

func (t *translator) sourcedMetadata(m *rbacv3.SourcedMetadata, at *messages.Path) reading {
	if m.GetMetadataSource() != rbacv3.MetadataSource_DYNAMIC {
		return t.unsaid(at, "it asks for the metadata of a route")
	}
	return t.metadata(m.GetMetadataMatcher(), at.Field("metadata_matcher"))
}

// metadataInput compares what a matcher sees of dynamic metadata.
func (t *translator) metadataInput(in *networkinputsv3.DynamicMetadataInput, value *envoymatcherv3.ValueMatcher, inverted bool, at *messages.Path) reading {
	m := &envoymatcherv3.MetadataMatcher{Filter: in.GetFilter(), Value: value, Invert: inverted}
	for _, segment := range in.GetPath() {
		m.Path = append(m.Path, &envoymatcherv3.MetadataMatcher_PathSegment{
			Segment: &envoymatcherv3.MetadataMatcher_PathSegment_Key{Key: segment.GetKey()},
		})
	}
	return t.metadata(m, at)
}

func (t *translator) claim(filter string, keys []string, value *envoymatcherv3.ValueMatcher, at *messages.Path) reading {
	text := rbac.ShownByClaim(filter, keys)
	switch {
	case text == nil || !isText(text):
		return t.unsaid(at, fmt.Sprintf("no policy can ask for the metadata %q of %s", keys, filter))
	case t.layer == policy.L4:
		// A connection has no token.
		return exactly(policy.Never)
	}
	list := attribute.Claim(append(keys[1:len(keys):len(keys)], claim.List)...)
	return t.claimValue(text, list, value, at.Field("value"))
}

// isText reports whether the key of a claim is that of a text. The last name of a path may be "[]" or
// "#" or the like, which a key takes for another form.
func isText(a *policy.Attribute) bool {
	_, form := claim.Path(a.Key)
	return form == ""
}

// claimValue compares a claim that is a text, or each text of a claim that is a list. There
// is no list in a list: the second attribute is nil there.
func (t *translator) claimValue(text, list *policy.Attribute, value *envoymatcherv3.ValueMatcher, at *messages.Path) reading {
	switch of := value.GetMatchPattern().(type) {
	case *envoymatcherv3.ValueMatcher_StringMatch:
		return t.attribute(text, textOf(of.StringMatch), at.Field("string_match")).reading
	case *envoymatcherv3.ValueMatcher_ListMatch:
		at := at.Field("list_match").Field("one_of")
		if list == nil {
			return t.unsaid(at, "it asks for a list in a list")
		}
		return t.claimValue(list, nil, of.ListMatch.GetOneOf(), at)
	case *envoymatcherv3.ValueMatcher_OrMatch:
		at := at.Field("or_match").Field("value_matchers")
		var out []reading
		for i, value := range of.OrMatch.GetValueMatchers() {
			out = append(out, t.claimValue(text, list, value, at.Index(i)))
		}
		return anyOf(out)
	case *envoymatcherv3.ValueMatcher_PresentMatch:
		return t.presence(text, list, of.PresentMatch, at.Field("present_match"))
	case *envoymatcherv3.ValueMatcher_DoubleMatch:
		return t.number(text, list == nil, of.DoubleMatch, at.Field("double_match"))
	case *envoymatcherv3.ValueMatcher_NullMatch_:
		return t.scalar(text, list == nil, policy.Match{Value: "null"}, at.Field("null_match"))
	case *envoymatcherv3.ValueMatcher_BoolMatch:
		return t.scalar(text, list == nil, policy.Match{Value: strconv.FormatBool(of.BoolMatch)}, at.Field("bool_match"))
	default:
		return t.unsaid(at, unknownMember(value, "match_pattern"))
	}
}

// presence asks whether a claim is there, with a value of any type.
func (t *translator) presence(text, list *policy.Attribute, present bool, at *messages.Path) reading {
	switch {
	case !present:
		// Envoy's matcher never holds then: it does not ask for absence.
		return exactly(policy.Never)
	case list == nil:
		return t.unsaid(at, "it asks for any value in a list, which may be a list or an object")
	}
	return t.claimIn(text, claim.Any, policy.Match{Kind: policy.Present}, at)
}

// number compares a number with another one, or with a range.
func (t *translator) number(text *policy.Attribute, inList bool, m *envoymatcherv3.DoubleMatcher, at *messages.Path) reading {
	switch of := m.GetMatchPattern().(type) {
	case *envoymatcherv3.DoubleMatcher_Exact:
		if math.IsNaN(of.Exact) {
			// No number is equal to it.
			return exactly(policy.Never)
		}
		if !claim.IsTold(of.Exact) {
			return t.unsaid(at, unlikeOthers(of.Exact))
		}
		return t.scalar(text, inList, policy.Match{Value: claim.NumberText(of.Exact)}, at)
	case *envoymatcherv3.DoubleMatcher_Range:
		from, to := of.Range.GetStart(), of.Range.GetEnd()
		interval := policy.Match{Kind: policy.Range, Value: claim.IntervalText(from, to)}
		switch {
		case !(from < to):
			// Envoy compares with both ends, and no number meets both.
			return exactly(policy.Never)
		case !math.IsInf(from, -1) && !claim.IsTold(from):
			return t.unsaid(at, unlikeOthers(from))
		case !math.IsInf(to, 1) && !claim.IsTold(to):
			return t.unsaid(at, unlikeOthers(to))
		}
		return t.scalar(text, inList, interval, at)
	default:
		return t.unsaid(at, unknownMember(m, "match_pattern"))
	}
}

// unlikeOthers says why no policy compares with a number: the lab could not tell it from those next
// to it.
func unlikeOthers(number float64) string {
	return fmt.Sprintf("it compares with the number %v, which is compared only with at most 14 digits, or 8 and 6 behind the dot", number)
}

// scalar compares a number, a truth value or null, at a path or in the list there.
func (t *translator) scalar(text *policy.Attribute, inList bool, m policy.Match, at *messages.Path) reading {
	if inList {
		return t.claimIn(text, claim.ScalarList, m, at)
	}
	return t.claimIn(text, claim.Scalar, m, at)
}

// claimIn compares a claim in another form than that of an attribute.
func (t *translator) claimIn(other *policy.Attribute, form string, m policy.Match, at *messages.Path) reading {
	path, _ := claim.Path(other.Key)
	a := attribute.Claim(append(path, form)...)
	if len(a.Forms) == 0 {
		return t.unsaid(at, "it asks for a time, which the lab chooses")
	}
	return exactly(policy.Is{Attribute: a, Match: m})
}
