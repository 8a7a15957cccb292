package lift

import (
	"fmt"
	"slices"
	"strconv"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/token"
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
// "#", which a key takes for another form.
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
	default:
		scalar, ok := scalarOf(value)
		switch {
		case !ok && value.GetDoubleMatch().GetRange() != nil:
			return t.unsaid(at.Field("double_match"), "it asks for a range of numbers in the "+text.Name)
		case !ok:
			return t.unsaid(at, unknownMember(value, "match_pattern"))
		case list == nil:
			return t.unsaid(at, "it asks for a number, a truth value or null in a list")
		case len(scalarClaim(text).Forms) == 0:
			return t.unsaid(at, "it asks for a time, which the lab chooses")
		}
		return exactly(scalarClaim(text).Exact(scalar))
	}
}

// presence asks whether a claim is there. Three claims of RFC 7519 are texts wherever they are, as
// Envoy reads them; another one may be an object or an empty list, which no attribute has.
func (t *translator) presence(text, list *policy.Attribute, present bool, at *messages.Path) reading {
	switch {
	case !present:
		// Envoy's matcher never holds then: it does not ask for absence.
		return exactly(policy.Never)
	case list != nil && slices.Contains([]string{"iss", "sub", "jti"}, text.Key):
		return exactly(text.Prefix(""))
	default:
		return t.unsaid(at, "it asks for the presence of the "+text.Name+", which may be a list or an object")
	}
}

// scalarClaim returns the claim as a number, a truth value or null.
func scalarClaim(text *policy.Attribute) *policy.Attribute {
	path, _ := claim.Path(text.Key)
	return attribute.Claim(append(path, claim.Scalar)...)
}

// scalarOf returns the text of a number, a truth value or null that is compared as a whole.
func scalarOf(value *envoymatcherv3.ValueMatcher) (text string, ok bool) {
	switch of := value.GetMatchPattern().(type) {
	case *envoymatcherv3.ValueMatcher_NullMatch_:
		return "null", true
	case *envoymatcherv3.ValueMatcher_BoolMatch:
		return strconv.FormatBool(of.BoolMatch), true
	case *envoymatcherv3.ValueMatcher_DoubleMatch:
		exact, ok := of.DoubleMatch.GetMatchPattern().(*envoymatcherv3.DoubleMatcher_Exact)
		if !ok {
			return "", false
		}
		text = token.ScalarText(strconv.FormatFloat(exact.Exact, 'f', -1, 64))
		return text, text != ""
	default:
		return "", false
	}
}
