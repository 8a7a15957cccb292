package rendering

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
)

// TestPlaceholdersBeginWhereTheyMay draws texts of what placeholders are made of: the expression finds none in front of where one may
// begin. Each of its alternatives is found in some text that begins like it.
func TestPlaceholdersBeginWhereTheyMay(t *testing.T) {
	t.Parallel()
	pieces := strings.Split("{{|}}|{|}|%|<|>|$|(|)|((|[[|]]|#|@|_|__|A|B_|a|path:|+|argocd:skip-file-rendering|ref+|r|vals://| |-|~|.|1|\n", "|")
	forms := []string{"{{ a }}", "{% if %}", "<% a %>", "${a}", "$(A)", "$AB", "%{a}", "#{a}", "<path:a>", "<+a>", "[[ a ]]", "(( a ))", "__AB__", "@a@", "+argocd:skip-file-rendering", "%(a)s", "ref+vault://", "((a))"}
	for _, form := range forms {
		pieces = append(pieces, form)
		if PlaceholderIn("x "+form) != form {
			t.Errorf("%q is no placeholder", form)
		}
	}
	property.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(r, "pieces"), "")
		at, begin := placeholders.FindStringIndex(text), mayBegin(text)
		if at != nil && (begin < 0 || begin > at[0]) {
			r.Fatalf("%q has a placeholder at %d, and one may begin at %d", text, at[0], begin)
		}
	})
	for _, alternative := range alternativesOf(placeholders.String()) {
		only := regexp.MustCompile(`^(` + alternative + `)$`)
		if !slices.ContainsFunc(forms, only.MatchString) {
			t.Errorf("no form of the test is one of %s", alternative)
		}
	}
}

// alternativesOf cuts an expression at the bars that stand in no group.
func alternativesOf(expression string) []string {
	cut, depth := []string{""}, 0
	for i := 0; i < len(expression); i++ {
		last := &cut[len(cut)-1]
		switch c := expression[i]; {
		case c == '\\':
			*last += expression[i : i+1]
			i++
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			cut = append(cut, "")
			continue
		}
		*last += expression[i : i+1]
	}
	return cut
}
