package authorization

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/misreading"
)

// lintServerNames warns of server names that a rule refuses: a caller sends another one, or none.
func (p Policy) lintServerNames(r rule) (out []policy.Warning) {
	for _, t := range r.when {
		if t.subject.name != "connection.sni" {
			continue
		}
		refused, field, advice := t.values, t.field, "deny the identity, or allow by server name"
		switch p.resource.Spec.Action {
		case actionDeny:
		case actionAllow:
			refused, field, advice = t.not, t.notField, "name what is allowed in values"
			if len(t.values) > 0 {
				continue // the rule says which names it lets in
			}
		default:
			continue
		}
		for i, value := range refused {
			if found := misreading.Find(t.subject.name, value, misreading.List{}); found.Kind != warning.NeverMatches && value != "*" {
				out = append(out, p.warn(warning.DenyByServerName, item(field, i), "a caller can send another server name than %s, or none, and is not denied then: %s", value, advice))
			}
		}
	}
	return out
}

// lintForwarded warns of the first address of a rule that a sidecar takes out of a header.
func (p Policy) lintForwarded(r rule, selected []policy.Inbound) []policy.Warning {
	takesHeader := func(in policy.Inbound) bool {
		return in.Protocol.Layer() == policy.L7 && r.reaches(in.Port) && !isGateway(in.Workload) && in.TrustedHops <= 1 // a case that states more has proxies in front
	}
	if action := p.resource.Spec.Action; action != actionAllow && action != actionDeny || !slices.ContainsFunc(selected, takesHeader) {
		return nil
	}
	for t := range r.terms {
		if t.subject.name == "remoteIpBlocks" {
			field := ""
			t.lists(func(at string, _ []string) bool { field = at; return false })
			return []policy.Warning{p.warn(warning.ForwardedAddress, field,
				"a sidecar takes the last entry of x-forwarded-for for this address, and every caller can write that header: ask for the address of the connection with ipBlocks, or source.ip in when")}
		}
	}
	return nil
}

// isGateway reports whether a workload looks like a gateway, whose listener may trust proxies in front of it.
func isGateway(w policy.Workload) bool {
	texts := []string{w.Namespace}
	for key, value := range w.Labels {
		texts = append(texts, key, value)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "gateway") || strings.Contains(text, "ingress") })
}

// lintLines warns of a value of a header that a rule refuses: a caller writes another value beside
// it, into the same line or, where Envoy joins the lines, into another one.
func (p Policy) lintLines(r rule) (out []policy.Warning) {
	for _, t := range r.when {
		name, path, _ := cutBrackets(t.subject.name)
		if name != "request.headers" || strings.HasPrefix(path[0], ":") {
			continue
		}
		field, refused := p.refused(t)
		other := "notValues"
		if p.resource.Spec.Action == actionAllow {
			other = "values"
		}
		kind, how := warning.OneLineOfMany, "the value is compared with a whole line, and a caller may write several values into one line"
		if requestline.IsOneLine(strings.ToLower(path[0])) {
			kind, how = warning.LinesJoined, fmt.Sprintf("Envoy joins all lines of %s to one text, and a caller may send the header twice", path[0])
		}
		for i, value := range refused {
			if value != "*" {
				out = append(out, p.warn(kind, item(field, i), "%s: name what is allowed in %s", how, other))
			}
		}
	}
	return out
}

// refused returns the values of a term that keep callers out, with the field of their list: those of a DENY, and the excluded ones of an ALLOW.
func (p Policy) refused(t term) (field string, values []string) {
	switch p.resource.Spec.Action {
	case actionDeny:
		return t.field, t.values
	case actionAllow:
		return t.notField, t.not
	default:
		return "", nil
	}
}
