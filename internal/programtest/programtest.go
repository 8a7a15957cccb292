// Package programtest makes decision programs for the tests of what is compiled from them.
// It guarantees that these tests ask for the same programs. Only tests import it.
package programtest

import (
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// Allow is a rule that allows.
func Allow(origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: origin}, When: when}
}

// Deny is a rule that denies.
func Deny(origin string, when policy.Condition) policy.Rule {
	return policy.Rule{Verdict: policy.Verdict{Origin: origin}, When: when}
}

// Is asks for an identity.
func Is(identity string) policy.Condition { return attribute.Identity.Exact(identity) }

// HasPrefix asks for the beginning of an identity.
func HasPrefix(prefix string) policy.Condition {
	return attribute.Identity.Prefix(prefix)
}

// Default is the verdict where no rule matches.
var Default = policy.Verdict{Origin: "default"}

// Enforce returns a program with one gate.
func Enforce(layer policy.Layer, rules ...policy.Rule) policy.Program {
	return policy.Program{Gates: []policy.Gate{{Layer: layer, Rules: rules, Default: Default}}}
}

// TwoPolicies is a mesh operator's deny and a service owner's deny, allow and
// allow-with-shadow-deny. The shadow comes in two forms: accepted denies what has
// a shadow deny and everything else by default, precise tells the rest apart.
func TwoPolicies(layer policy.Layer, precise bool) policy.Program {
	const operator, owner = "kri_mtp_default___by-mesh-operator_", "kri_mtp_default___by-service-owner_"
	frontend, gateway := Is("spiffe://trust-domain.mesh/ns/default/sa/frontend"), Is("spiffe://trust-domain.mesh/ns/default/sa/api-gateway")
	legacy, everyone := HasPrefix("spiffe://trust-domain.mesh/ns/legacy"), HasPrefix("spiffe://trust-domain.mesh/")
	p := Enforce(layer,
		Deny(operator, policy.Or{frontend}),
		Deny(owner, policy.Or{gateway}),
		Allow(owner, policy.Or{everyone, legacy}),
	)
	shadow := policy.Gate{Layer: layer, Rules: []policy.Rule{Deny(owner, policy.Or{legacy})}, Default: Default}
	if precise {
		shadow.Rules = []policy.Rule{
			Deny(operator, policy.Or{frontend}),
			Deny(owner, policy.Or{gateway}),
			Deny(owner, policy.Or{legacy}),
			Allow(owner, policy.Or{everyone}),
		}
	}
	p.Shadows = []policy.Gate{shadow}
	return p
}

// SeveralGates has what a layer can have several of, and a route with other filters.
func SeveralGates() policy.Program {
	named := func(layer policy.Layer, fallback policy.Effect, rules ...policy.Rule) policy.Gate {
		return policy.Gate{Layer: layer, Form: policy.Named, Default: policy.Verdict{Effect: fallback}, Rules: rules}
	}
	shadow := func(name string, behind int, g policy.Gate) policy.Gate {
		g.Name, g.Preceding = name, behind
		return g
	}
	mallory, admin := attribute.URISAN.Exact("spiffe://td.mesh/mallory"), attribute.Path.Segments("/admin")
	audit := named(policy.L7, policy.Log, policy.Rule{Verdict: policy.Verdict{Effect: policy.Log, Origin: "audit"}, When: admin})
	reads := named(policy.L7, policy.Deny, Allow("reads", attribute.Method.Exact("GET")))
	return policy.Program{
		Gates: []policy.Gate{
			named(policy.L4, policy.Allow, Deny("wall", mallory)),
			Enforce(policy.L4, Allow("mesh", HasPrefix("spiffe://td.mesh/"))).Gates[0],
			audit,
			named(policy.L7, policy.Allow, Deny("no-admin", admin)),
			reads,
		},
		Shadows: []policy.Gate{
			shadow("dry_run_deny_", 3, named(policy.L7, policy.Allow, Deny("dry", attribute.Method.Exact("PUT")))),
			shadow("dry_run_allow_", 3, named(policy.L7, policy.Deny, Allow("wet", policy.Always))),
		},
		Routes: []policy.Route{{
			Name: "public", When: attribute.Path.Exact("/public"),
			Gates:   []policy.Gate{reads, audit},
			Shadows: []policy.Gate{shadow("dry_run_allow_", 2, named(policy.L7, policy.Deny))},
		}},
	}
}

// Puzzle returns patterns of 40 letters, each with three letters in random places: a text that
// meets none of them solves a puzzle, which no search does quickly. The draw is the same each
// time.
func Puzzle() (patterns []string) {
	seed := uint32(7)
	next := func(n uint32) int {
		seed = seed*1664525 + 1013904223
		return int(seed >> 8 % 0x10000 % n)
	}
	for range 175 {
		places := map[int]bool{}
		for len(places) < 3 {
			places[next(40)] = true
		}
		var b strings.Builder
		for i := range 40 {
			switch {
			case !places[i]:
				b.WriteByte('.')
			case next(2) == 0:
				b.WriteByte('a')
			default:
				b.WriteByte('b')
			}
		}
		patterns = append(patterns, b.String())
	}
	return patterns
}
