package authorization

import (
	"iter"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/misreading"
)

// Lint warns, in the order of ps, of empty lists, of rules that Istio widens or leaves out on
// tcp, of values that no request has, of tokens that an inbound does not read, of negative sources that a
// caller without a name meets, of policies that select no workload, of ports that no
// selected workload has, and of rules without effect on every inbound. Demand says what an
// inbound demands of tokens.
func Lint(ps []Policy, inbounds []policy.Inbound, opts Options, demand func(policy.Inbound) token.Demand) []policy.Warning {
	var out []policy.Warning
	survey := survey{ps, opts, demand, map[string]surveyed{}}
	readsTokens := func(in policy.Inbound) bool { return demand(in).Reads() }
	for _, p := range ps {
		var selected []policy.Inbound
		for _, in := range inbounds {
			if p.missReason(in.Workload, opts) == nil {
				selected = append(selected, in)
			}
		}
		if len(inbounds) > 0 && len(selected) == 0 {
			nearest, reason := capability.Nearest(inbounds, func(in policy.Inbound) iter.Seq[capability.Miss] { return p.reach(opts).Misses(in.Workload) })
			out = append(out, p.warn(warning.SelectsNothing, "", "the policy selects no workload (%s: %s)", nearest.Workload.Name, reason))
		}
		ambient := inAmbient(selected)
		if ambient {
			out = append(out, p.lintAmbient()...)
		}
		out = append(out, p.lintCustom(ps, selected, opts)...)
		for i, r := range p.rules {
			if ambient {
				out = append(out, p.lintAmbientRule(r, opts)...)
			}
			out = append(out, p.lintEmpty(r.field, (*p.resource.Spec.Rules)[i])...)
			before := len(out)
			out = append(out, p.lintTCP(r, selected)...)
			out = append(out, p.lintNegative(r)...)
			out = append(out, p.lintLines(r)...)
			out = append(out, p.lintServerNames(r)...)
			out = append(out, p.lintForwarded(r, selected)...)
			out = append(out, p.lintTokens(r, selected, readsTokens)...)
			out = append(out, p.lintValues(r, selected, opts)...)
			// A rule that also takes longer names may be without effect all the same.
			warned := slices.ContainsFunc(out[before:], func(w policy.Warning) bool { return !misreading.IsInsideName(w.Kind) })
			out = append(out, survey.lintFate(p, i, selected, warned)...)
			if !ambient {
				out = append(out, survey.lintSpelling(p, i, selected)...)
			}
		}
		out = append(out, p.lintSplit()...)
		out = append(out, p.lintOpen()...)
	}
	return out
}

// lintValues warns of values that do not mean what their author may think.
func (p Policy) lintValues(r rule, selected []policy.Inbound, opts Options) (out []policy.Warning) {
	for t := range r.terms {
		for field, values := range t.lists {
			for i, value := range values {
				if rendering.PlaceholderIn(value) != "" {
					continue // there is a warning of its own, and what is applied is unknown
				}
				if t.subject.name == "ports" && len(selected) > 0 && !slices.ContainsFunc(selected, func(in policy.Inbound) bool { return uint64(in.Port) == portOf(value) }) {
					out = append(out, p.warn(warning.PortOfNoInbound, item(field, i), "no selected workload has an inbound on the port: a port is the workload's, not that of a Service"))
				}
				found := misreading.Find(t.subject.name, value, misreading.List{Values: values, Rewritten: opts.rewritten})
				// Here a star keeps longer names out, and without it they would be let in.
				keepsOut := misreading.IsInsideName(found.Kind) && (p.resource.Spec.Action == actionDeny) != isNegative(field)
				if found != (misreading.Misreading{}) && !keepsOut {
					out = append(out, p.warn(found.Kind, item(field, i), "%s", found.Reason))
				}
			}
		}
	}
	return out
}

// lintEmpty warns of a list that is empty.
func (p Policy) lintEmpty(field string, r *Rule) (out []policy.Warning) {
	if r.From != nil && len(*r.From) == 0 {
		out = append(out, p.warn(warning.EmptyList, field+".from", "Istio reads the empty list as an absent one, which every caller meets: leave the field out, or name callers"))
	}
	if r.To != nil && len(*r.To) == 0 {
		out = append(out, p.warn(warning.EmptyList, field+".to", "Istio reads the empty list as an absent one, which every request meets: leave the field out, or name operations"))
	}
	return out
}

// lintTCP warns of the first field of a rule that a selected tcp inbound does not have.
func (p Policy) lintTCP(r rule, selected []policy.Inbound) []policy.Warning {
	i := slices.IndexFunc(selected, func(in policy.Inbound) bool { return in.Protocol.Layer() == policy.L4 && r.reaches(in.Port) })
	if i < 0 || !r.asksHTTP() {
		return nil
	}
	field := ""
	for t := range r.terms {
		if t.subject.http {
			t.lists(func(at string, _ []string) bool { field = at; return false })
			break
		}
	}
	if p.resource.Spec.Action == actionAllow {
		return []policy.Warning{p.warn(warning.HTTPOnTCP, field, "tcp inbound %s has no field of HTTP: there Istio leaves the whole rule out, and it allows nothing", selected[i])}
	}
	return []policy.Warning{p.warn(warning.HTTPOnTCP, field, "tcp inbound %s has no field of HTTP: there Istio leaves this field out, and the rule matches more: name the ports of HTTP", selected[i])}
}

// reaches reports whether the rule can match on a port.
func (r rule) reaches(port uint16) bool {
	names := func(values []string) bool {
		return slices.ContainsFunc(values, func(value string) bool { return portOf(value) == uint64(port) })
	}
	admits := func(terms []term) bool {
		return !slices.ContainsFunc(terms, func(t term) bool {
			return t.subject.name == "ports" && (len(t.values) > 0 && !names(t.values) || names(t.not))
		})
	}
	return admits(r.when) && (r.to == nil || slices.ContainsFunc(r.to, admits))
}

// lintTokens warns of the first field about a token where an inbound reads none.
func (p Policy) lintTokens(r rule, selected []policy.Inbound, readsTokens func(policy.Inbound) bool) []policy.Warning {
	for t := range r.terms {
		if t.subject.name != "requestPrincipals" && !strings.HasPrefix(t.subject.name, "request.auth.") {
			continue
		}
		blind := func(in policy.Inbound) bool { return in.Protocol.Layer() == policy.L7 && !readsTokens(in) }
		if i := slices.IndexFunc(selected, blind); i >= 0 {
			field := ""
			t.lists(func(at string, _ []string) bool { field = at; return false })
			return []policy.Warning{p.warn(warning.NoTokenIsRead, field, "no RequestAuthentication applies to inbound %s, so that no request has a principal or a claim there", selected[i])}
		}
	}
	return nil
}

// isNegative reports whether a field lists what must not be, such as notPaths.
func isNegative(field string) bool {
	return strings.HasPrefix(field[strings.LastIndexByte(field, '.')+1:], "not")
}
