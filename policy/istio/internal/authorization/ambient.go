package authorization

import (
	"slices"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// inAmbient reports whether one of the inbounds is of a workload without a sidecar, whose
// connections ztunnel judges.
func inAmbient(selected []policy.Inbound) bool {
	return slices.ContainsFunc(selected, func(in policy.Inbound) bool {
		return in.Workload.Labels["istio.io/dataplane-mode"] == "ambient"
	})
}

// lintAmbient warns of a policy that ztunnel does not enforce.
func (p Policy) lintAmbient() []policy.Warning {
	switch action := p.resource.Spec.Action; {
	case action == actionAudit, action == actionCustom:
		return []policy.Warning{p.warn(warning.NotInAmbient, "spec.action", "ztunnel knows no %s, and leaves the policy out", action)}
	case p.observes:
		return []policy.Warning{p.warn(warning.NotInAmbient, "metadata.annotations", "ztunnel knows no dry run, and leaves the policy out")}
	}
	return nil
}

// lintAmbientRule warns of a rule that ztunnel reads otherwise than a sidecar. Of when, ztunnel
// knows addresses, namespaces, principals and ports.
func (p Policy) lintAmbientRule(r rule, opts Options) (out []policy.Warning) {
	known := func(t term) bool {
		return !t.subject.http && !slices.Contains([]string{"trustDomains", "connection.sni", "remoteIpBlocks"}, t.subject.name)
	}
	left, field := 0, ""
	for t := range r.terms {
		if known(t) {
			left++
			if t.subject.name == "principals" && len(opts.TrustDomainAliases) > 0 {
				t.lists(func(at string, _ []string) bool {
					out = append(out, p.warn(warning.NotInAmbient, at, "ztunnel knows no aliases of trust domains: name each of them"))
					return false
				})
			}
		} else if field == "" {
			t.lists(func(at string, _ []string) bool { field = at; return false })
		}
	}
	switch {
	case field == "":
	case p.resource.Spec.Action == actionAllow:
		out = append(out, p.warn(warning.NotInAmbient, field, "ztunnel does not know the field: it leaves the whole rule out, and it allows nothing"))
	case left == 0:
		out = append(out, p.warn(warning.NotInAmbient, field, "ztunnel does not know the field: the rule has no effect there"))
	default:
		out = append(out, p.warn(warning.NotInAmbient, field, "ztunnel does not know the field: it leaves it out, and the rule matches more"))
	}
	return out
}
