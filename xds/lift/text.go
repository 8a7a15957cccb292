package lift

import (
	"slices"
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// text is a set of texts. One of the alternatives has to match.
type text struct {
	alternatives []alternative
	// reason says why the alternatives are not the whole set; "" where they are.
	reason string
}

type alternative struct {
	policy.Match
	// longer is set for a prefix that does not match itself.
	longer bool
}

func exact(value string) alternative {
	return alternative{Match: policy.Match{Value: value}}
}

func beginning(value string) alternative {
	return alternative{Match: policy.Match{Kind: policy.Prefix, Value: value}}
}

// stringMatcher is one of xds.type.matcher.v3 or of envoy.type.matcher.v3.
type stringMatcher interface {
	proto.Message
	GetExact() string
	GetPrefix() string
	GetIgnoreCase() bool
}

func textOf(m stringMatcher) text {
	var t text
	message := m.ProtoReflect()
	pattern := message.WhichOneof(message.Descriptor().Oneofs().ByName("match_pattern"))
	if pattern == nil {
		return text{reason: "it compares with nothing: Envoy refuses it"}
	}
	switch pattern.Name() {
	case "exact":
		t = text{alternatives: []alternative{exact(m.GetExact())}}
	case "prefix":
		t = text{alternatives: []alternative{beginning(m.GetPrefix())}}
	case "safe_regex":
		return regexText(regexOf(m))
	default:
		return text{reason: "it looks for more than a whole value or its beginning (" + string(pattern.Name()) + ")"}
	}
	if m.GetIgnoreCase() {
		t.ignoreCase()
	}
	return t
}

func regexOf(m stringMatcher) string {
	switch m := m.(type) {
	case *matcherv3.StringMatcher:
		return m.GetSafeRegex().GetRegex()
	case *envoymatcherv3.StringMatcher:
		return m.GetSafeRegex().GetRegex()
	default:
		return ""
	}
}

// ignoreCase makes the set match texts in any case.
func (t *text) ignoreCase() {
	for _, of := range t.alternatives {
		if strings.ToLower(of.Value) != strings.ToUpper(of.Value) {
			t.reason = "it compares without regard to case"
		}
	}
}

// matches reports whether a known value is one of the texts.
func (t text) matches(value string) bool {
	for _, of := range t.alternatives {
		if of.Matches(value) && !(of.longer && of.Value == value) {
			return true
		}
	}
	return false
}

// each returns the Or of the conditions for the alternatives.
func (t *translator) each(of text, at *messages.Path, condition func(a alternative) reading) reading {
	readings := make([]reading, len(of.alternatives))
	for i, a := range of.alternatives {
		readings[i] = condition(a)
	}
	out := anyOf(readings)
	if of.reason == "" {
		return out
	}
	t.lost.add(at, of.reason)
	if len(readings) == 0 {
		return nothing
	}
	return partly(out.when)
}

// attribute compares an attribute of the request that a matcher sees as one text.
func (t *translator) attribute(a *policy.Attribute, of text, at *messages.Path) term {
	if a == attribute.Path {
		// The header carries the query.
		return term{path: &comparison{text: of, raw: true, at: at}}
	}
	return term{reading: t.each(of, at, func(of alternative) reading {
		everything := of.Match == policy.Match{Kind: policy.Prefix}
		switch {
		case everything && !a.Always:
			return exactly(a.Prefix(""))
		case everything && of.longer && slices.Contains(a.Kinds, policy.Prefix):
			return exactly(policy.Not{Of: a.Exact("")})
		case everything:
			return exactly(policy.Always)
		case !slices.Contains(a.Kinds, of.Kind):
			return t.unsaid(at, "it asks for the beginning of a "+a.Name)
		case of.longer:
			return exactly(policy.And{policy.Is{Attribute: a, Match: of.Match}, policy.Not{Of: a.Exact(of.Value)}})
		default:
			return exactly(policy.Is{Attribute: a, Match: of.Match})
		}
	})}
}

// name compares each name of a caller by itself.
func (t *translator) name(of text, at *messages.Path) reading {
	return t.each(of, at, func(a alternative) reading {
		// No SAN is empty, so that each is longer than "".
		if a.longer && a.Value != "" {
			t.lost.add(at, "it asks for a name that is longer than a prefix")
			return partly(policy.Is{Attribute: attribute.URISAN, Match: a.Match})
		}
		return exactly(policy.Is{Attribute: attribute.URISAN, Match: a.Match})
	})
}

// constant compares a value that is known.
func (t *translator) constant(of text, at *messages.Path, value string) reading {
	if of.reason != "" {
		return t.unsaid(at, of.reason)
	}
	return exactly(policy.Constant(of.matches(value)))
}
