package policyset

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
)

// BrokenSet makes a case that must be refused from a case that must be, and a sound one: the policies of the first
// stand among those of the second, or an item of a sound policy stands beside the items of the broken one. A compiler that
// leaves out what it cannot read, and goes on with the rest, accepts it. The result is false where the
// two cannot stand together, or where the error is another one then.
func BrokenSet(broken, sound cases.Case, seed, number uint64) (cases.Case, bool) {
	if broken.ExpectError == "" || sound.ExpectError != "" || len(sound.Inbounds) == 0 || len(broken.Policies) == 0 || len(sound.Policies) == 0 || profileOf(broken.Policies[0]) != profileOf(sound.Policies[0]) {
		return broken, false
	}
	c := &chooser{rand.New(rand.NewPCG(number, seed^besideSeed)).IntN}
	policies := sound.Policies
	if number%2 == 1 {
		policies = c.soundItem(broken.Policies, sound.Policies)
	} else {
		policies = slices.Insert(slices.Clone(policies), c.choose(len(policies)+1), broken.Policies...)
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
func (c *chooser) soundItem(broken, sound []manifest.Document) []manifest.Document {
	from, _, err := valuesOf(cases.Case{Policies: sound})
	if err != nil {
		return nil
	}
	into, _, err := valuesOf(cases.Case{Policies: broken})
	if err != nil {
		return nil
	}
	items := map[string][]any{}
	for _, l := range specLists(from) {
		for _, item := range l.items() {
			if _, ok := item.(map[string]any); ok {
				items[l.key] = append(items[l.key], item)
			}
		}
	}
	for _, l := range shuffled(c, specLists(into)) {
		if of := items[l.key]; len(of) > 0 {
			l.object[l.key] = slices.Insert(slices.Clone(l.items()), pick(c, 0, len(l.items())), clone(pick(c, of...)))
			return documents("beside.yaml", into...)
		}
	}
	return nil
}
