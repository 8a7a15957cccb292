package inspect

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// identities returns the texts that a program compares the peer's identity with, each
// once, and a prefix before the texts that begin with it. It reports false for a
// program that compares single URI SANs.
func identities(p policy.Program) ([]policy.Match, bool) {
	f := finder{seen: make(map[policy.Match]bool)}
	f.gates(p.Gates)
	f.gates(p.Shadows)
	out := make([]policy.Match, 0, len(f.seen))
	for m := range f.seen {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b policy.Match) int {
		if c := strings.Compare(a.Value, b.Value); c != 0 {
			return c
		}
		return int(b.Kind) - int(a.Kind)
	})
	return out, !f.uris
}

type finder struct {
	seen map[policy.Match]bool
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
	for c := range policy.Walk(c) {
		is, _ := c.(policy.Is)
		switch is.Attribute {
		case attribute.Identity:
			f.seen[is.Match] = true
		case attribute.URISAN:
			f.uris = true
		}
	}
}
