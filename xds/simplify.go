package xds

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// simplify returns a condition of the same meaning without constants inside and
// without lists of one: Envoy refuses an or_matcher or and_matcher with less than
// two predicates, and an empty prefix. The result is [policy.Always],
// [policy.Never], or free of both.
func simplify(c policy.Condition) policy.Condition {
	switch of := c.(type) {
	case nil:
		return policy.Never
	case policy.And:
		return simplifyList(c, of, policy.Always)
	case policy.Or:
		return simplifyList(c, of, policy.Never)
	case policy.Not:
		switch of := simplify(of.Of).(type) {
		case policy.Constant:
			return !of
		default:
			return policy.Not{Of: of}
		}
	case policy.Identity:
		if of.Kind == policy.Prefix && of.Value == "" {
			return policy.Always
		}
		return c
	case policy.Path:
		switch {
		case of.Kind == policy.Prefix && of.Segment() == "":
			return policy.Always
		case strings.Contains(of.Value, "?"):
			// No path contains its query, but the header that Envoy compares does.
			return policy.Never
		}
		return c
	default:
		return c
	}
}

// simplifyList drops the neutral constant of an And (always) or an Or (never)
// and lets the opposite one decide. A list that is simple already is returned as it
// is, for long ones are the rule.
func simplifyList(list policy.Condition, cs []policy.Condition, neutral policy.Constant) policy.Condition {
	if len(cs) > 1 && !slices.ContainsFunc(cs, reducible) {
		return list
	}
	kept := make([]policy.Condition, 0, len(cs))
	for _, c := range cs {
		switch of := simplify(c).(type) {
		case policy.Constant:
			if of != neutral {
				return of
			}
		default:
			kept = append(kept, of)
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

// reducible reports whether a condition may become a simpler one.
func reducible(c policy.Condition) bool {
	switch c := c.(type) {
	case policy.Identity:
		return c.Value == ""
	case policy.URI, policy.Method:
		return false
	default:
		return true
	}
}
