package permission

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Lint returns what is legal and yet may not do what its author means, in the
// order of ps: rules without effect, prefixes that reach neighbours, paths that
// no request has, allows that denies hide on every inbound they apply to,
// policies that apply to none of the inbounds, and the warnings of [Lower] for
// each inbound.
func Lint(ps []Policy, inbounds []policy.Inbound, opts Options) []policy.Warning {
	order := make(map[string]int, len(ps))
	var out []policy.Warning
	for i := range ps {
		order[ps[i].origin] = i
		out = append(out, ps[i].lintEffect()...)
		out = append(out, ps[i].lintMatchers()...)
	}
	s := newSurvey()
	for _, in := range inbounds {
		sel := Select(ps, in, opts)
		out = append(out, blindSpots(sel.Policies, in)...)
		s.observe(sel, in)
	}
	out = append(out, s.hides()...)
	out = append(out, s.idle(ps)...)
	slices.SortStableFunc(out, func(a, b policy.Warning) int { return order[a.Policy] - order[b.Policy] })
	return out
}

// lintEffect warns of what has no effect because it is empty.
func (p *Policy) lintEffect() []policy.Warning {
	if p.isFrom() {
		return p.lintFrom()
	}
	if len(p.rules) == 0 {
		return []policy.Warning{p.warn("spec", "%s %s has no rules: it has no effect", kindName, p.id.Name)}
	}
	var out []policy.Warning
	for _, r := range p.rules {
		if r.form == conditions {
			out = append(out, p.lintConditions(r)...)
			continue
		}
		if len(r.lists[deny])+len(r.lists[allowWithShadowDeny])+len(r.lists[allow]) == 0 {
			out = append(out, p.warn(r.field, "no list has a matcher: the rule has no effect"))
			continue
		}
		for l := range r.lists {
			if r.written[l] && len(r.lists[l]) == 0 {
				out = append(out, p.warn(r.field+"."+list(l).String(), "the list is empty: it has no effect"))
			}
		}
	}
	return out
}

func (p *Policy) lintMatchers() []policy.Warning {
	var out []policy.Warning
	for _, r := range p.rules {
		for l, matchers := range r.lists {
			for _, m := range matchers {
				out = append(out, p.lintPrefix(list(l), m)...)
				out = append(out, p.lintPath(m)...)
			}
		}
	}
	return out
}
