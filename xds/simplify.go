package xds

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// simplify returns a condition of the same meaning without constants inside and
// without lists of one: Envoy refuses an or_matcher or and_matcher with less than
// two predicates, and an empty prefix. The result is [policy.Always],
// [policy.Never], or free of both.
func simplify(c policy.Condition) policy.Condition {
	switch c := c.(type) {
	case nil:
		return policy.Never
	case policy.And:
		return simplifyList(c, policy.Always)
	case policy.Or:
		return simplifyList(c, policy.Never)
	case policy.Not:
		switch of := simplify(c.Of).(type) {
		case policy.Constant:
			return !of
		default:
			return policy.Not{Of: of}
		}
	case policy.Identity:
		if c.Kind == policy.Prefix && c.Value == "" {
			return policy.Always
		}
		return c
	case policy.Path:
		switch {
		case c.Kind == policy.Prefix && c.Segment() == "":
			return policy.Always
		case strings.Contains(c.Value, "?"):
			// No path contains its query, but the header that Envoy compares does.
			return policy.Never
		}
		return c
	default:
		return c
	}
}

// simplifyList drops the neutral constant of an And (always) or an Or (never)
// and lets the opposite one decide.
func simplifyList(cs []policy.Condition, neutral policy.Constant) policy.Condition {
	kept := make([]policy.Condition, 0, len(cs))
	for _, c := range cs {
		switch c := simplify(c).(type) {
		case policy.Constant:
			if c != neutral {
				return c
			}
		default:
			kept = append(kept, c)
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
