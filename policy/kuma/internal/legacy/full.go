package legacy

import (
	"fmt"
	"iter"
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
	var out []Combination
	for c := range combinationsOf(items) {
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

// combinationsOf yields all combinations of the items' tags, without their actions.
func combinationsOf(items []Item) iter.Seq[Combination] {
	tags := tagsOf(items)
	return func(yield func(Combination) bool) {
		for absent := range 1 << len(tags) {
			c := Combination{Tags: tags, Present: make([]bool, len(tags))}
			for i := range tags {
				c.Present[i] = absent&(1<<i) == 0
			}
			if !yield(c) {
				return
			}
		}
	}
}

// count returns the number of present tags.
func (c Combination) count() (n int) {
	for _, present := range c.Present {
		if present {
			n++
		}
	}
	return n
}

// twofold returns two tags that exclude each other in the view, where a certificate can have
// all present tags: two services of one mesh, or two values of one key.
func (c Combination) twofold() (a, b Tag, ok bool) {
	for i, t := range c.Tags {
		for k, u := range c.Tags {
			switch {
			case !c.Present[i]:
			case !c.Present[k] && t.implies(u), c.Present[k] && t.excludes(u) && t.mesh != u.mesh:
				return Tag{}, Tag{}, false
			case c.Present[k] && t.excludes(u) && !ok:
				a, b, ok = t, u, true
			}
		}
	}
	return a, b, ok
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
			all[i] = policy.Not{Condition: all[i]}
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
