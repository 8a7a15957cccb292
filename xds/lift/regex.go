package lift

import (
	"regexp/syntax"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// maxAlternatives bounds the texts that a regular expression is spelled out to.
const maxAlternatives = 64

// regexText reads a regular expression of RE2 that has to match the whole value. It spells
// out an expression that is a list of texts and of prefixes. For any other expression, the
// common prefix of its matches is close. Values have no line breaks.
func regexText(expression string) text {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return text{reason: "its regular expression cannot be read"}
	}
	parsed = unanchored(parsed.Simplify())
	if alternatives, ok := spellOut(parsed); ok {
		return text{alternatives: alternatives}
	}
	t := text{reason: "its regular expression is more than a list of values and beginnings"}
	if begins := literalStart(parsed); begins != "" {
		t.alternatives = []alternative{beginning(begins)}
	}
	return t
}

func spellOut(re *syntax.Regexp) ([]alternative, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []alternative{exact("")}, true
	case syntax.OpNoMatch:
		return nil, true
	case syntax.OpLiteral:
		return []alternative{exact(string(re.Rune))}, re.Flags&syntax.FoldCase == 0
	case syntax.OpCharClass:
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
