package programtest

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Match returns a match of the kind whose value the attribute can have.
func Match(a *policy.Attribute, kind policy.MatchKind) policy.Match {
	m := policy.Match{Kind: kind, Value: "/a"}
	switch {
	case kind == policy.Present:
		m.Value = ""
	case kind == policy.Range:
		m.Value = "80-90"
	case kind == policy.CIDR:
		m.Value = "10.0.0.0/8"
	case kind == policy.Template:
		m.Value = "/a/*"
	case slices.Contains(a.Kinds, policy.Range):
		m.Value = "80"
	case slices.Contains(a.Kinds, policy.CIDR):
		m.Value = "10.0.0.7"
	}
	return m
}
