package networkpolicy

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// Lint warns, in the order of ps, of policies that select no workload, of rules that let
// no caller in or name no workload, and of fields that may not mean what they seem to.
func Lint(ps []Policy, inbounds []policy.Inbound, opts Options) []policy.Warning {
	c := callersOf(opts)
	identities := make([]identity, len(inbounds))
	for i, in := range inbounds {
		identities[i] = identityOf(in.Workload, opts)
	}
	var out []policy.Warning
	for _, p := range ps {
		out = append(out, p.lintReach(inbounds, identities)...)
		for _, s := range p.specs {
			var selected []policy.Inbound
			for i, in := range inbounds {
				if s.subject.selects(identities[i]) {
					selected = append(selected, in)
				}
			}
			if s.idle {
				out = append(out, p.warn(warning.IdleDefaultDeny, s.field+".enableDefaultDeny.ingress", "the spec has no rule of ingress, so that it closes nothing: write ingress: [{}] to close every inbound"))
			}
			for _, r := range slices.Concat(s.deny, s.allow) {
				out = append(out, p.lintPeers(r, c)...)
				out = append(out, p.lintPorts(r, selected)...)
				out = append(out, p.lintHTTP(r)...)
			}
			if !s.defaultDeny && hasHTTP(s.allow) {
				out = append(out, p.warn(warning.OpenHTTP, s.field+".enableDefaultDeny", "no rule of this spec closes anything, so that its HTTP rules refuse no request unless another policy sets default deny"))
			}
		}
	}
	return out
}

// lintReach warns where a policy with endpoints selects no workload.
func (p Policy) lintReach(inbounds []policy.Inbound, identities []identity) []policy.Warning {
	if len(p.specs) == 0 || len(inbounds) == 0 || slices.ContainsFunc(identities, p.selects) {
		return nil
	}
	nearest, reason := p.nearest(inbounds, identities)
	return []policy.Warning{p.warn(warning.SelectsNothing, "", "the policy selects no workload (%s: %s)", nearest.Name, reason)}
}

func (p Policy) lintPeers(r rule, c callers) (out []policy.Warning) {
	workloads, everyWorld, blocks := c.selected(r.peers)
	switch {
	case r.ports == nil && !r.icmp && !r.peers.everyone && r.peers.endpoints == nil && r.peers.entities == nil && r.peers.blocks == nil:
		out = append(out, p.warn(warning.EmptyRule, r.field, "the rule names neither peers nor ports, or an empty list of peers: it lets no caller in, and closes what no other rule allows"))
	case len(c.workloads) > 0 && len(workloads) == 0 && !everyWorld && blocks == nil:
		out = append(out, p.warn(warning.NoPeer, r.field, "the rule names no workload of the case: it is about no caller"))
	}
	if r.peers.endpoints != nil && everyWorld {
		out = append(out, p.warn(warning.WorldByLabel, r.field, "the selector is met by what has no labels: the world is among the peers"))
	}
	return out
}

// lintPorts warns of a port that no selected workload has, and of HTTP rules on tcp.
func (p Policy) lintPorts(r rule, selected []policy.Inbound) (out []policy.Warning) {
	for _, entry := range r.ports {
		var on []policy.Inbound
		for _, in := range selected {
			if slices.ContainsFunc(entry.ports, func(of portRange) bool { return of.has(in) }) {
				on = append(on, in)
			}
		}
		tcp := slices.ContainsFunc(entry.ports, func(of portRange) bool { return of.tcp })
		switch {
		case len(entry.ports) == 0:
			out = append(out, p.warn(warning.EmptyRule, entry.field, "the entry has no port, and is about none: leave toPorts out for every port"))
		case len(selected) > 0 && len(on) == 0 && tcp:
			out = append(out, p.warn(warning.PortOfNoInbound, entry.field, "no selected workload has an inbound on the port: a port is the workload's, not that of a Service"))
		case entry.http != nil && slices.ContainsFunc(on, func(in policy.Inbound) bool { return in.Protocol == policy.TCP }):
			out = append(out, p.warn(warning.HTTPOnTCP, entry.field, "the inbound speaks no HTTP: the rule lets no caller in there"))
		}
	}
	return out
}

// lintHTTP warns of expressions that hardly mean what they say.
func (p Policy) lintHTTP(r rule) (out []policy.Warning) {
	for _, entry := range r.ports {
		for _, when := range entry.http {
			for c := range policy.Walk(when) {
				if is, ok := c.(policy.Is); ok && is.Match.Kind == policy.Regex {
					out = append(out, p.lintRegex(entry.field, is)...)
				}
			}
		}
	}
	return out
}

func (p Policy) lintRegex(field string, is policy.Is) []policy.Warning {
	text := strings.TrimPrefix(is.Match.Value, "^")
	switch {
	case is.Attribute.Name == "header :path" && text != "" && text[0] == '/' && !matchesQuery(is):
		return []policy.Warning{p.warn(warning.PathWithQuery, field, "the path is compared with its query: %s does not match a request with one", is.Match.Value)}
	case is.Attribute.Name == "method" && text == strings.ToLower(text) && strings.ToUpper(text) != text:
		return []policy.Warning{p.warn(warning.NeverMatches, field, "methods are compared as they stand: write %s", strings.ToUpper(text))}
	default:
		return nil
	}
}

// matchesQuery reports whether an expression that begins with a path takes one with a query.
func matchesQuery(is policy.Is) bool {
	return strings.HasSuffix(strings.TrimSuffix(is.Match.Value, "$"), "*") || strings.Contains(is.Match.Value, "?")
}

func hasHTTP(rules []rule) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return slices.ContainsFunc(r.ports, func(entry portRule) bool { return entry.http != nil })
	})
}
