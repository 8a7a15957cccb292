package route

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// spansWhole reports whether the first match from the left, of the texts that an expression
// matches as a whole, always is the whole text. So it is where the expression ends in $, and where
// each repetition has to end where it does: at the end, or in front of a character that it does not
// take.
func spansWhole(text string) bool {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return false
	}
	parts := flatten(re)
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText && parts[n-1].Flags&syntax.WasDollar != 0 {
		return true
	}
	for i, part := range parts {
		switch part.Op {
		case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpEmptyMatch, syntax.OpBeginText:
		case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
			takes, ok := characters(part.Sub[0])
			if !ok || part.Flags&syntax.NonGreedy != 0 {
				return false
			}
			if i == len(parts)-1 {
				continue
			}
			next, ok := characters(parts[i+1])
			if !ok || overlap(takes, next) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// readAlike reports whether Rust's rules, by which Linkerd reads an expression, are those of RE2 for it. They differ in sets of a class
// (&&, -- and ~~), in a class inside of a class, in \< and \>, in octal numbers, in \Q and \C, and in a brace that counts nothing.
func readAlike(text string) bool {
	inClass := false
	for i := 0; i < len(text); i++ {
		rest := text[i:]
		switch {
		case rest[0] == '\\':
			if len(rest) < 2 || strings.ContainsRune("<>QEC0123456789", rune(rest[1])) || strings.HasPrefix(rest, `\b{`) {
				return false
			}
			i++
		case inClass && strings.HasPrefix(rest, "[:"):
			i += max(strings.Index(rest, ":]"), 0) + 1
		case inClass && (rest[0] == '[' || strings.HasPrefix(rest, "&&") || strings.HasPrefix(rest, "--") || strings.HasPrefix(rest, "~~")):
			return false
		case inClass:
			inClass = rest[0] != ']'
		case rest[0] == '[':
			inClass = true
			// The first character of a class is one, also where it is a bracket.
			for _, first := range []string{"^", "]"} {
				if strings.HasPrefix(text[i+1:], first) {
					i++
				}
			}
		case rest[0] == '{' && !counted.MatchString(rest):
			return false
		}
	}
	return true
}

// counted is a repetition with numbers.
var counted = regexp.MustCompile(`^\{[0-9]+(,[0-9]*)?\}`)

// flatten returns the parts of an expression one after the other, without its groups. A literal
// has one part for each character.
func flatten(re *syntax.Regexp) (out []*syntax.Regexp) {
	switch re.Op {
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			out = append(out, flatten(sub)...)
		}
		return out
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			out = append(out, &syntax.Regexp{Op: syntax.OpLiteral, Flags: re.Flags, Rune: []rune{c}})
		}
		return out
	default:
		return []*syntax.Regexp{re}
	}
}

// characters returns the ranges of characters that a part takes, if it takes one character.
func characters(re *syntax.Regexp) ([]rune, bool) {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	switch {
	case re.Op == syntax.OpLiteral && len(re.Rune) == 1 && re.Flags&syntax.FoldCase == 0:
		return []rune{re.Rune[0], re.Rune[0]}, true
	case re.Op == syntax.OpCharClass:
		return re.Rune, true
	case re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL:
		return []rune{0, '\U0010FFFF'}, true
	default:
		return nil, false
	}
}

func overlap(a, b []rune) bool {
	for pair := range slices.Chunk(a, 2) {
		for other := range slices.Chunk(b, 2) {
			if pair[0] <= other[1] && other[0] <= pair[1] {
				return true
			}
		}
	}
	return false
}
