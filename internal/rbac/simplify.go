package rbac

import (
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
)

// simplify returns a condition of the same meaning without constants inside and without
// lists of one: Envoy refuses an or_matcher or and_matcher with less than two
// predicates, and an empty prefix. The result is [policy.Always], [policy.Never], or
// free of both.
func simplify(c policy.Condition) policy.Condition { return rewrite.Condition(c, simpleShape) }

var simpleShape = rewrite.Shape[policy.Condition]{
	And: func(of []policy.Condition) policy.Condition { return simpleList(of, policy.Always) },
	Or:  func(of []policy.Condition) policy.Condition { return simpleList(of, policy.Never) },
	Not: func(of policy.Condition) policy.Condition {
		if constant, ok := of.(policy.Constant); ok {
			return !constant
		}
		return policy.Not{Of: of}
	},
	Leaf: simpleLeaf,
}

// simpleLeaf finds the matches that always or never hold. Where a request may have no
// value of the attribute, an empty prefix of it stays.
func simpleLeaf(c policy.Condition) policy.Condition {
	is, ok := c.(policy.Is)
	if !ok || is.Attribute == nil {
		return c
	}
	switch r := rows[is.Attribute]; {
	case is.Match.Kind == policy.Segments && is.Match.Segment() == "":
		return policy.Always
	case is.Match == (policy.Match{Kind: policy.Prefix}) && is.Attribute.Always:
		return policy.Always
	case r != nil && r.never != nil && r.never(is.Match):
		return policy.Never
	default:
		return c
	}
}

// simpleList drops the neutral constant of an And (always) or an Or (never). The
// opposite constant decides the list. It reuses the memory of the list.
func simpleList(cs []policy.Condition, neutral policy.Constant) policy.Condition {
	kept := cs[:0]
	for _, c := range cs {
		switch constant, ok := c.(policy.Constant); {
		case !ok:
			kept = append(kept, c)
		case constant != neutral:
			return constant
		}
	}
	switch {
	case len(kept) == 0:
		return neutral
	case len(kept) == 1:
		return kept[0]
	case neutral == policy.Always:
		return policy.And(kept)
	default:
		return policy.Or(kept)
	}
}
