package automaton_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/property"
)

var shortWords = programtest.Words("ab/", 5)

// drawn is a language and a plain reading of it.
type drawn struct {
	text     string
	language *automaton.Language
	matches  func(string) bool
}

func drawLanguage() *rapid.Generator[drawn] {
	return rapid.Custom(func(t *rapid.T) drawn {
		value := rapid.StringOfN(rapid.SampledFrom([]rune("ab/")), 0, 3, -1).Draw(t, "value")
		fold := rapid.IntRange(0, 3).Draw(t, "fold") == 0
		lower := func(s string) string {
			if fold {
				return strings.ToLower(s)
			}
			return s
		}
		if fold {
			value = strings.ToUpper(value)
		}
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			return drawn{"exact " + value, automaton.Literal(value, false, false, fold), func(s string) bool { return lower(s) == lower(value) }}
		case 1:
			return drawn{"prefix " + value, automaton.Literal(value, false, true, fold), func(s string) bool { return strings.HasPrefix(lower(s), lower(value)) }}
		case 2:
			return drawn{"suffix " + value, automaton.Literal(value, true, false, fold), func(s string) bool { return strings.HasSuffix(lower(s), lower(value)) }}
		case 3:
			return drawn{"contains " + value, automaton.Literal(value, true, true, fold), func(s string) bool { return strings.Contains(lower(s), lower(value)) }}
		case 4:
			return drawn{"segments " + value, automaton.Segments(value), func(s string) bool { return s == value || strings.HasPrefix(s, value+"/") }}
		}
		expression := drawExpression(2).Draw(t, "expression")
		language, err := automaton.Regex(expression, rapid.SampledFrom([]automaton.Encoding{automaton.Latin1, automaton.UTF8}).Draw(t, "encoding"))
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		whole := regexp.MustCompile(`\A(?:` + expression + `)\z`)
		return drawn{"regex " + expression, language, whole.MatchString}
	})
}

func drawExpression(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
			return rapid.SampledFrom([]string{"a", "b", "/", ".", "[^/]", "[ab]", "", "^", "$", `\b`, `\B`, `(?m:^)`, `(?m:$)`, "(?i:A)", "(?s:.)", `\w`, `\W`}).Draw(t, "leaf")
		}
		sub := drawExpression(depth - 1)
		switch rapid.IntRange(0, 6).Draw(t, "of") {
		case 0:
			return "(?:" + sub.Draw(t, "x") + ")*"
		case 1:
			return "(?:" + sub.Draw(t, "x") + ")+?"
		case 2:
			return "(" + sub.Draw(t, "x") + ")?"
		case 3:
			return "(?:" + sub.Draw(t, "x") + "){1,2}"
		case 4:
			return "(?:" + sub.Draw(t, "x") + "|" + sub.Draw(t, "y") + ")"
		default:
			return sub.Draw(t, "x") + sub.Draw(t, "y")
		}
	})
}

// TestMatches holds each language against a plain reading.
func TestMatches(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		l := drawLanguage().Draw(t, "language")
		for _, w := range programtest.Words("ab/", 4) {
			if got, want := l.language.Matches(w), l.matches(w); got != want {
				t.Fatalf("%s matches %q: %t, want %t", l.text, w, got, want)
			}
		}
	})
}

// TestShortest holds the answer to each question against all short texts.
func TestShortest(t *testing.T) {
	t.Parallel()
	var search automaton.Search
	counts := map[automaton.Answer]int{}
	sendable := map[string]*automaton.Language{}
	for _, e := range []string{`[ab/]*`, `/[ab/]*`, `(/[ab]+)*`, `[ab]{0,4}`} {
		sendable[e], _ = automaton.Regex(e, automaton.Latin1)
	}
	property.Check(t, func(t *rapid.T) {
		e := rapid.SampledFrom([]string{`[ab/]*`, `/[ab/]*`, `(/[ab]+)*`, `[ab]{0,4}`}).Draw(t, "sendable")
		in := []drawn{{e, sendable[e], regexp.MustCompile(`\A(?:` + e + `)\z`).MatchString}}
		in = append(in, rapid.SliceOfN(drawLanguage(), 0, 2).Draw(t, "in")...)
		out := rapid.SliceOfN(drawLanguage(), 0, 3).Draw(t, "out")
		question := func(w string) bool {
			for _, l := range in {
				if !l.matches(w) {
					return false
				}
			}
			for _, l := range out {
				if l.matches(w) {
					return false
				}
			}
			return true
		}
		languages := func(of []drawn) (all []*automaton.Language) {
			for _, l := range of {
				all = append(all, l.language)
			}
			return all
		}
		word, answer := search.Shortest(languages(in), languages(out))
		counts[answer]++
		switch answer {
		case automaton.Found:
			if !question(word) {
				t.Fatalf("%q is no answer to %v but not %v", word, texts(in), texts(out))
			}
		case automaton.Empty:
			for _, w := range shortWords {
				if question(w) {
					t.Fatalf("%q is an answer to %v but not %v", w, texts(in), texts(out))
				}
			}
		default:
			t.Fatalf("the search for %v but not %v met its limit", texts(in), texts(out))
		}
	})
	if counts[automaton.Found] == 0 || counts[automaton.Empty] == 0 {
		t.Errorf("the answers are %v: none is of one kind", counts)
	}
}

func texts(of []drawn) (out []string) {
	for _, l := range of {
		out = append(out, l.text)
	}
	return out
}

func regex(t testing.TB, expression string) *automaton.Language {
	t.Helper()
	l, err := automaton.Regex(expression, automaton.Latin1)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestQuestionsThatNeedAnotherWayOfSearching asks what some ways of searching cannot answer.
func TestQuestionsThatNeedAnotherWayOfSearching(t *testing.T) {
	t.Parallel()
	const lower, lines = `[a-z]*`, `[a-z0-9:/\n]*`
	for name, tt := range map[string]struct {
		sendable          string
		members, excluded []string
		want              automaton.Answer
	}{
		"a letter far from the end":      {lower, []string{`.*x.{20}`}, []string{`.*x.{20}`}, automaton.Empty},
		"gaps":                           {lower, []string{`.*ax.{20}y.*`}, gaps(10), automaton.Found},
		"many parts":                     {lower, contains(8), nil, automaton.Found},
		"lengths":                        {lower, nil, []string{`(..)*.`, `(...)*`, `(.....)*`}, automaton.Found},
		"nothing is left":                {lower, []string{`.*b`}, []string{`.*`}, automaton.Empty},
		"it explodes in all directions":  {lower, nil, exploding(), automaton.Limited},
		"one language is inside another": {lines, []string{`(?s)spiffe://mesh/.*`, `.*/ns/edge84701355956523509/.*`}, append(namespaces(), `.+`), automaton.Empty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, out := []*automaton.Language{regex(t, tt.sendable)}, []*automaton.Language(nil)
			for _, e := range tt.members {
				in = append(in, regex(t, e))
			}
			for _, e := range tt.excluded {
				out = append(out, regex(t, e))
			}
			var s automaton.Search
			word, answer := s.Shortest(in, out)
			if answer != tt.want {
				t.Errorf("%v %q, want %v", answer, word, tt.want)
			}
		})
	}
}

func gaps(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(`.*%c.{20}z.*`, 'b'+i))
	}
	return out
}

// namespaces returns languages whose common states are many.
func namespaces() (out []string) {
	for _, name := range []string{"329529", "84701355956", "84701202159", "84701355956446536", "948588", "84701355956629646", "84701355956629646494714"} {
		out = append(out, ".*/ns/edge"+name+"/.*")
	}
	return append(out, ".*/ns/a.*/.*")
}

func contains(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(`.*%c%c%c.*`, 'a'+i, 'c'+i, 'b'+i))
	}
	return out
}

// exploding returns a puzzle, and what leaves no other text.
func exploding() []string {
	return append([]string{`[a-z]{0,39}`, `[a-z]{41,}`, `[a-z]*[c-z][a-z]*`}, programtest.Puzzle()...)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, e := range []string{`(`, `\C`, `a{1001}`, `(?i)\xe9`, `(?i:é)`, `(((a{30}){30}){30})`} {
		if _, err := automaton.Regex(e, automaton.Latin1); err == nil {
			t.Errorf("%s: no error", e)
		}
	}
}
