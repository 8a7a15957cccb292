package lint

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// Lint warns, in the order of ps, of rules without effect, prefixes that reach
// neighbours, paths that no request has, allows that denies take on every inbound,
// policies that apply to no inbound, and of the [BlindSpots] of each inbound.
func Lint(ps []permission.Policy, inbounds []policy.Inbound, opts permission.Options) []policy.Warning {
	order := make(map[string]int, len(ps))
	var out []policy.Warning
	for i := range ps {
		order[ps[i].Origin] = i
		out = append(out, lintEffect(&ps[i])...)
		out = append(out, lintMatchers(&ps[i])...)
	}
	s := newSurvey()
	for _, in := range inbounds {
		sel := selection.Select(ps, in, opts)
		out = append(out, BlindSpots(sel.Policies, in)...)
		s.add(sel, in)
	}
	out = append(out, s.hiddenWarnings()...)
	out = append(out, s.idleWarnings(ps)...)
	slices.SortStableFunc(out, func(a, b policy.Warning) int { return order[a.Policy] - order[b.Policy] })
	return out
}

// lintEffect warns of rules and lists without effect.
func lintEffect(p *permission.Policy) []policy.Warning {
	if p.IsFrom() {
		return lintFrom(p)
	}
	if len(p.Rules) == 0 {
		return []policy.Warning{p.Warn("spec", "%s %s has no rules: it has no effect", permission.KindName, p.ID.Name)}
	}
	var out []policy.Warning
	for _, r := range p.Rules {
		if r.Form == permission.FormConditions {
			out = append(out, lintConditions(p, r)...)
			continue
		}
		if len(r.Lists[permission.Deny])+len(r.Lists[permission.AllowWithShadowDeny])+len(r.Lists[permission.Allow]) == 0 {
			out = append(out, p.Warn(r.Field, "no list has a matcher: the rule has no effect"))
			continue
		}
		for l := range r.Lists {
			if r.Written[l] && len(r.Lists[l]) == 0 {
				out = append(out, p.Warn(r.Field+"."+permission.List(l).String(), "the list is empty: it has no effect"))
			}
		}
	}
	return out
}

func lintMatchers(p *permission.Policy) []policy.Warning {
	var out []policy.Warning
	for _, r := range p.Rules {
		for l, matchers := range r.Lists {
			for _, m := range matchers {
				out = append(out, lintPrefix(p, permission.List(l), m)...)
				out = append(out, lintPath(p, m)...)
			}
		}
	}
	return out
}

// lintConditions warns of a rule of Option 3 that applies to no request, or to
// every request.
func lintConditions(p *permission.Policy, r permission.Rule) []policy.Warning {
	for l, matchers := range r.Lists {
		switch {
		case !r.Written[l]:
		case len(matchers) == 0:
			return []policy.Warning{p.Warn(r.Field+".conditions", "the list is empty: the rule has no effect")}
		case matchers[0].When == policy.Always:
			return []policy.Warning{p.Warn(r.Field, "without conditions the rule applies to every request: its %s is for everybody", permission.List(l))}
		}
	}
	return nil
}

// BlindSpots warns of each matcher that asks for a path or a method on a tcp
// inbound, where neither can be seen.
func BlindSpots(ps []permission.Policy, in policy.Inbound) []policy.Warning {
	if in.Protocol.Layer() != policy.L4 {
		return nil
	}
	var out []policy.Warning
	for i := range ps {
		for _, r := range ps[i].Rules {
			for l, matchers := range r.Lists {
				for _, m := range matchers {
					if m.NeedsL7() {
						out = append(out, ps[i].Warn(m.Field, "tcp inbound %s sees neither path nor method: %s", in, blindEffect(permission.List(l), m)))
					}
				}
			}
		}
	}
	return out
}

func blindEffect(l permission.List, m permission.Matcher) string {
	switch {
	case l == permission.Allow:
		return "there this allows nothing"
	case l == permission.AllowWithShadowDeny:
		return "there this allows nothing, and denies nothing in the shadow"
	case m.Identity == nil:
		return "there this denies everybody"
	default:
		return "there this denies the identity whatever it asks for"
	}
}
