package lift

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	envoymatcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// text is a set of texts. One of the alternatives has to match.
type text struct {
	alternatives []alternative
	// regex is the regular expression that the alternatives spell out, if any.
	regex string
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
	GetSuffix() string
	GetContains() string
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
	case "suffix":
		t = textBy(policy.Suffix, m.GetSuffix())
	case "contains":
		t = textBy(policy.Contains, m.GetContains())
	case "safe_regex":
		return regexText(regexOf(m))
	default:
		return text{reason: "it compares by an extension (" + string(pattern.Name()) + ")"}
	}
	if m.GetIgnoreCase() {
		t.ignoreCase()
	}
	return t
}

// textBy returns the texts that a match has. Envoy refuses an empty suffix, and an empty
// part.
func textBy(kind policy.MatchKind, value string) text {
	if value == "" {
		return text{reason: "it compares with nothing: Envoy refuses it"}
	}
	return text{alternatives: []alternative{{Match: policy.Match{Kind: kind, Value: value}}}}
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
	for i := range t.alternatives {
		of := &t.alternatives[i]
		of.AnyCase = of.Kind != policy.Regex && strings.ContainsFunc(of.Value, func(c rune) bool {
			return c|0x20 >= 'a' && c|0x20 <= 'z'
		})
	}
}

// asOne returns the texts as one match: a route is an And of matches, and cannot be told by one of
// several texts.
func (t text) asOne() text {
	if len(t.alternatives) > 1 && t.regex != "" {
		return textBy(policy.Regex, t.regex)
	}
	return t
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
		return term{path: &comparison{text: of, raw: true, path: at}}
	}
	// A header can have bytes that are no UTF-8. Where Envoy reads expressions as UTF-8, a
	// beginning has them and an expression has not.
	if a.Family != "" && of.regex != "" && of.reason == "" && slices.ContainsFunc(of.alternatives, func(of alternative) bool { return of.Kind != policy.Exact }) {
		of = textBy(policy.Regex, of.regex)
	}
	return term{reading: t.each(of, at, func(of alternative) reading {
		everything := of.Match == policy.Match{Kind: policy.Prefix}
		switch {
		case everything && !a.Always && slices.Contains(a.Kinds, policy.Present):
			return exactly(policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Present}})
		case everything && !a.Always:
			return exactly(a.Prefix(""))
		case everything && of.longer && slices.Contains(a.Kinds, policy.Prefix):
			return exactly(policy.Not{Condition: a.Exact("")})
		case everything:
			return exactly(policy.Always)
		case !slices.Contains(a.Kinds, of.Kind):
			return t.unsaid(at, fmt.Sprintf("it asks for a %s by a match of the kind %s", a.Name, of.Kind))
		case of.longer:
			return exactly(policy.And{policy.Is{Attribute: a, Match: of.Match}, policy.Not{Condition: a.Exact(of.Value)}})
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
			a.Match = policy.Match{Kind: policy.Regex, Value: regexp.QuoteMeta(a.Value) + ".+"}
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

// maxAlternatives bounds the texts that a regular expression is spelled out to.
const maxAlternatives = 64

// regexText reads a regular expression of RE2 that has to match the whole value. It spells
// out an expression that is a list of texts and of prefixes. Releases of Envoy read an
// expression with characters beyond ASCII differently: the common prefix of its matches is
// close. Values have no line breaks.
func regexText(expression string) text {
	if expression == rbac.AnyBytes {
		return text{alternatives: []alternative{beginning("")}}
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return text{reason: "its regular expression cannot be read"}
	}
	parsed = unanchored(parsed.Simplify())
	asASCII := strings.IndexFunc(expression, func(c rune) bool { return c >= utf8.RuneSelf }) < 0 && !asksBeyondASCII(parsed)
	if alternatives, ok := spellOut(parsed); ok && asASCII {
		return text{alternatives: alternatives, regex: expression}
	}
	if _, err := automaton.Regex(expression, automaton.Latin1); err == nil && asASCII {
		return textBy(policy.Regex, expression)
	}
	t := text{reason: "releases of Envoy read its regular expression differently, or it is too large"}
	if begins := literalStart(parsed); begins != "" {
		t.alternatives = []alternative{beginning(begins)}
	}
	return t
}

// asksBeyondASCII reports whether an expression tells characters beyond ASCII apart, by an
// escape or by the name of a class. In any case, s and k stand for the long s and for Kelvin too:
// those are no such characters.
func asksBeyondASCII(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return !isASCII(re.Rune)
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			first, last := re.Rune[i], re.Rune[i+1]
			folded := first == last && (first == 'ſ' || first == '\u212a')
			if last > unicode.MaxASCII && !folded && (first > utf8.RuneSelf || last < unicode.MaxRune) {
				return true
			}
		}
		return false
	default:
		return slices.ContainsFunc(re.Sub, asksBeyondASCII)
	}
}

func spellOut(re *syntax.Regexp) ([]alternative, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []alternative{exact("")}, true
	case syntax.OpNoMatch:
		return nil, true
	case syntax.OpLiteral:
		return []alternative{exact(string(re.Rune))}, re.Flags&syntax.FoldCase == 0 && isASCII(re.Rune)
	case syntax.OpCharClass:
		// One character that is not ASCII is several to an Envoy that reads bytes.
		if !isASCII(re.Rune) {
			return nil, false
		}
		return spellOutClass(re.Rune)
	case syntax.OpCapture:
		return spellOut(re.Sub[0])
	case syntax.OpQuest:
		of, ok := spellOut(re.Sub[0])
		return append([]alternative{exact("")}, of...), ok
	case syntax.OpStar, syntax.OpPlus:
		open := beginning("")
		open.longer = re.Op == syntax.OpPlus
		return []alternative{open}, re.Sub[0].Op == syntax.OpAnyChar || re.Sub[0].Op == syntax.OpAnyCharNotNL
	case syntax.OpAlternate:
		var out []alternative
		for _, sub := range re.Sub {
			of, ok := spellOut(sub)
			if out = append(out, of...); !ok || len(out) > maxAlternatives {
				return nil, false
			}
		}
		return out, true
	case syntax.OpConcat:
		return spellOutAll(re.Sub)
	default:
		return nil, false
	}
}

func isASCII(text []rune) bool {
	return !slices.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// unanchored drops the anchors at both ends: the whole value has to match anyway.
func unanchored(re *syntax.Regexp) *syntax.Regexp {
	if re.Op != syntax.OpConcat {
		return re
	}
	subs := re.Sub
	for len(subs) > 0 && subs[0].Op == syntax.OpBeginText {
		subs = subs[1:]
	}
	for len(subs) > 0 && subs[len(subs)-1].Op == syntax.OpEndText {
		subs = subs[:len(subs)-1]
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: subs}
}

func spellOutAll(subs []*syntax.Regexp) ([]alternative, bool) {
	out := []alternative{exact("")}
	for _, sub := range subs {
		of, ok := spellOut(sub)
		if !ok || len(out)*len(of) > maxAlternatives {
			return nil, false
		}
		var next []alternative
		for _, head := range out {
			for _, tail := range of {
				switch {
				case head.Kind == policy.Exact:
					tail.Value = head.Value + tail.Value
					next = append(next, tail)
				case tail == exact(""):
					next = append(next, head)
				default:
					return nil, false
				}
			}
		}
		out = next
	}
	return out, true
}

// spellOutClass takes pairs of a first and a last character.
func spellOutClass(ranges []rune) ([]alternative, bool) {
	var out []alternative
	for i := 0; i+1 < len(ranges); i += 2 {
		if int(ranges[i+1]-ranges[i]) >= maxAlternatives-len(out) {
			return nil, false
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			out = append(out, exact(string(r)))
		}
	}
	return out, true
}

// literalStart returns a common prefix of all matches, as far as literals say it.
func literalStart(re *syntax.Regexp) string {
	var b strings.Builder
	subs := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		subs = re.Sub
	}
	for _, sub := range subs {
		if sub.Op != syntax.OpLiteral || sub.Flags&syntax.FoldCase != 0 {
			break
		}
		b.WriteString(string(sub.Rune))
	}
	return b.String()
}
