package policyset

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
)

// BrokenSet makes a case that must be refused from a case that must be, and a sound one: the policies of the first
// stand among those of the second, or an item of a sound policy stands beside the items of the broken one. A compiler that
// leaves out what it cannot read, and goes on with the rest, accepts it. The result is false where the
// two cannot stand together, or where the error is another one then.
func BrokenSet(broken, sound cases.Case, seed, number uint64) (cases.Case, bool) {
	if broken.ExpectError == "" || sound.ExpectError != "" || len(sound.Inbounds) == 0 || len(broken.Policies) == 0 || len(sound.Policies) == 0 || tree.Profile(broken.Policies[0]) != tree.Profile(sound.Policies[0]) {
		return broken, false
	}
	c := choice.New(rand.New(rand.NewPCG(number, seed^besideSeed)).IntN)
	policies := sound.Policies
	if number%2 == 1 {
		policies = soundItem(c, broken.Policies, sound.Policies)
	} else {
		policies = slices.Insert(slices.Clone(policies), c.Choose(len(policies)+1), broken.Policies...)
	}
	out := sound
	out.Name = fmt.Sprintf("%s, beside what is sound", broken.Name)
	out.Policies, out.ExpectError = policies, broken.ExpectError
	if _, err := verdict.Read(out); policies == nil || err == nil || !strings.Contains(withoutPlaces(err.Error()), withoutPlaces(broken.ExpectError)) {
		return broken, false
	}
	return FromCase(out, seed, number)
}

// besideSeed keeps the choices apart from those of [FromCase].
const besideSeed = 0xb51de

var places = regexp.MustCompile(`^policies\[\d+\](\.|: )|\[\d+\]`)

// withoutPlaces leaves out the places in lists: an error moves with what stands in front of it.
func withoutPlaces(message string) string {
	return places.ReplaceAllStringFunc(message, func(place string) string {
		if strings.HasPrefix(place, "policies") {
			return ""
		}
		return "[]"
	})
}

// soundItem returns the broken policies with an item of a sound one in a list of theirs, in front of the other items or
// behind them; nil where no sound policy has an item for any of their lists.
func soundItem(c *choice.Chooser, broken, sound []manifest.Document) []manifest.Document {
	from, _, err := tree.Values(cases.Case{Policies: sound})
	if err != nil {
		return nil
	}
	into, _, err := tree.Values(cases.Case{Policies: broken})
	if err != nil {
		return nil
	}
	items := map[string][]any{}
	for _, l := range tree.SpecLists(from) {
		for _, item := range l.Items() {
			if _, ok := item.(map[string]any); ok {
				items[l.Key] = append(items[l.Key], item)
			}
		}
	}
	for _, l := range choice.Shuffled(c, tree.SpecLists(into)) {
		if of := items[l.Key]; len(of) > 0 {
			l.Set(slices.Insert(slices.Clone(l.Items()), choice.Pick(c, 0, len(l.Items())), tree.Clone(choice.Pick(c, of...))))
			return documents("beside.yaml", into...)
		}
	}
	return nil
}
