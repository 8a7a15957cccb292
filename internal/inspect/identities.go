package inspect

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// identities returns what a program compares the identity of the peer with, each
// once, a prefix before all that begin with it. It reports false for a program
// that looks at single URI SANs.
func identities(p policy.Program) ([]policy.StringMatch, bool) {
	f := finder{seen: make(map[policy.StringMatch]bool)}
	f.gates(p.Gates)
	f.gates(p.Shadows)
	out := make([]policy.StringMatch, 0, len(f.seen))
	for m := range f.seen {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b policy.StringMatch) int {
		if c := strings.Compare(a.Value, b.Value); c != 0 {
			return c
		}
		return int(b.Kind) - int(a.Kind)
	})
	return out, !f.uris
}

type finder struct {
	seen map[policy.StringMatch]bool
	uris bool
}

func (f *finder) gates(gates []policy.Gate) {
	for _, gate := range gates {
		f.rules(gate.Rules)
	}
}

func (f *finder) rules(rules []policy.Rule) {
	for _, rule := range rules {
		f.condition(rule.When)
		f.rules(rule.Then)
	}
}

func (f *finder) condition(c policy.Condition) {
	switch c := c.(type) {
	case policy.And:
		f.all(c)
	case policy.Or:
		f.all(c)
	case policy.Not:
		f.condition(c.Of)
	case policy.Identity:
		f.seen[policy.StringMatch(c)] = true
	case policy.URI:
		f.uris = true
	}
}

func (f *finder) all(cs []policy.Condition) {
	for _, c := range cs {
		f.condition(c)
	}
}
