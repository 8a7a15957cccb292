package legacy

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// maxTags bounds the full view to 4096 combinations.
const maxTags = 12

// SizeError says that the full view of some items is too large.
type SizeError struct {
	// Tags is the number of different tags that the items name.
	Tags int
}

// Error gives the number of combinations.
func (e *SizeError) Error() string {
	combinations := new(big.Int).Lsh(big.NewInt(1), uint(e.Tags))
	return fmt.Sprintf("kuma/legacy: compile the full rule view: %d tags make %s combinations, the limit is %d: use the compact compiler",
		e.Tags, combinations, 1<<maxTags)
}

// Combination is one line of the full view: the clients that have the present tags and
// lack the others.
type Combination struct {
	Tags    []Tag
	Present []bool
	Action  Action
}

// View returns the full rule view with negations: every combination of the items'
// tags, with the action of the last item that names it, or [Deny] where no item does.
// The first tag changes fastest, present before absent. It leaves out combinations
// that no client can have: two values of one key, two services, two meshes, a service
// without its mesh. Beyond 4096 combinations it returns a [*SizeError].
func View(items []Item) ([]Combination, error) {
	if err := Full.Check(items); err != nil {
		return nil, err
	}
	tags := tagsOf(items)
	var out []Combination
	for absent := range 1 << len(tags) {
		c := Combination{Tags: tags, Present: make([]bool, len(tags))}
		for i := range tags {
			c.Present[i] = absent&(1<<i) == 0
		}
		if !c.possible() {
			continue
		}
		for _, item := range items {
			if c.meets(item) {
				c.Action = item.Action
			}
		}
		out = append(out, c)
	}
	return out, nil
}

func (c Combination) possible() bool {
	for i, t := range c.Tags {
		for k, u := range c.Tags {
			if c.Present[i] && (c.Present[k] && t.excludes(u) || !c.Present[k] && t.implies(u)) {
				return false
			}
		}
	}
	return true
}

func (c Combination) meets(item Item) bool {
	for _, tag := range item.Tags {
		if !c.Present[slices.Index(c.Tags, tag)] {
			return false
		}
	}
	return true
}

// Condition holds for the clients of the combination.
func (c Combination) Condition() policy.Condition {
	all := make(policy.And, len(c.Tags))
	for i, tag := range c.Tags {
		all[i] = tag.condition()
		if !c.Present[i] {
			all[i] = policy.Not{Of: all[i]}
		}
	}
	return all
}

func full(items []Item) program {
	view, err := View(items)
	return func(admits func(Action) bool) []policy.Condition {
		if err != nil {
			return nil
		}
		var out []policy.Condition
		for _, c := range view {
			if admits(c.Action) {
				out = append(out, c.Condition())
			}
		}
		return out
	}
}
