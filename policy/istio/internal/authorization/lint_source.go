package authorization

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
)

// identities are the subjects that ask for the name of the caller.
var identities = []string{"principals", "namespaces", "serviceAccounts", "trustDomains"}

// lintNegative warns of an ALLOW that only says who does not call: of the negative fields of each
// source that asks for no name, and of those of the conditions.
func (p Policy) lintNegative(r rule) (out []policy.Warning) {
	if p.resource.Spec.Action != actionAllow || named(r.when) {
		return nil
	}
	warn := func(terms []term) {
		for _, t := range terms {
			if slices.Contains(identities, t.subject.name) && len(t.not) > 0 {
				add := `principals: ["*"]`
				if t.subject.name == "serviceAccounts" || len(r.from) == 0 {
					// Service accounts cannot stand beside principals in a source.
					add = `when: [{key: source.principal, values: ["*"]}]`
				}
				out = append(out, p.warn(warning.NegativeWithoutIdentity, t.notField, "a caller in plaintext has no name and is none of them: add %s to let in only callers with a certificate", add))
				return
			}
		}
	}
	nameless := len(r.from) == 0
	for _, terms := range r.from {
		if !named(terms) {
			nameless = true
			warn(terms)
		}
	}
	if nameless {
		warn(r.when)
	}
	return out
}

// named reports whether only a caller with a name meets the terms.
func named(terms []term) bool {
	return slices.ContainsFunc(terms, func(t term) bool { return slices.Contains(identities, t.subject.name) && len(t.values) > 0 })
}

// kubernetesName is the name of a service account as a user of Kubernetes.
var kubernetesName = regexp.MustCompile(`^system:serviceaccount:([^:/*]+):([^:/*]+)$`)

// lintName says why a name of callers does not do what its author may mean; the kind is "" where it may.
// The subject is principals, namespaces or trustDomains.
func lintName(subject, value string) (kind warning.Kind, reason string) {
	begin, ends := strings.CutSuffix(value, "*")
	anyStart := strings.HasPrefix(value, "*") // the star at the end is a character then
	if ends && !anyStart && endsInName(begin) {
		parts := strings.Split(begin, "/")
		remedy := fmt.Sprintf("write %s", begin)
		if subject == "principals" && (len(parts) < 2 || parts[len(parts)-2] != "sa") {
			remedy = fmt.Sprintf("write %s/*", begin)
		}
		return warning.PrefixInsideName, fmt.Sprintf("the star also stands for the rest of a longer name, as in %s-evil: %s", begin, remedy)
	}
	if rest, _ := strings.CutPrefix(value, "*"); anyStart && startsInName(rest) && !strings.Contains(rest, "*") {
		remedy := "write " + rest
		if subject == "principals" {
			switch domain, _, found := strings.Cut(rest, "/ns/"); {
			case found && !strings.Contains(domain, "/"):
				remedy = "write the whole trust domain, without the star"
			case strings.Contains(rest, "/"):
				remedy = "put a slash in front of the name"
			default:
				remedy = "write */sa/" + rest
			}
		}
		return warning.PrefixInsideName, fmt.Sprintf("the star also stands for the beginning of a longer name, as in evil-%s: %s", rest, remedy)
	}
	if subject != "principals" || anyStart {
		return lintAccount(subject, value)
	}
	switch bare := strings.TrimPrefix(value, "spiffe://"); {
	case bare != value:
		return warning.SchemeInPrincipal, "a principal has no scheme, and Istio puts one in front: it never matches, write " + bare
	case kubernetesName.MatchString(value):
		return warning.NeverMatches, fmt.Sprintf("this is how Kubernetes names an account: write %s, with the trust domain of the mesh", kubernetesName.ReplaceAllString(value, "cluster.local/ns/$1/sa/$2"))
	case !strings.Contains(value, "/") && !ends:
		return warning.NeverMatches, fmt.Sprintf("a principal is a whole name: write cluster.local/ns/NAMESPACE/sa/%s, with the trust domain of the mesh", value)
	case strings.HasPrefix(value, "ns/"):
		return warning.NeverMatches, "a principal begins with the trust domain of the mesh: write cluster.local/" + value
	default:
		return lintAccount(subject, value)
	}
}

// lintSplit warns of the first rule of an ALLOW that is for requests of everybody, beside one that is
// for all requests of some callers: their author may have meant one rule.
func (p Policy) lintSplit() []policy.Warning {
	if p.resource.Spec.Action != actionAllow {
		return nil
	}
	ofCallers := slices.IndexFunc(p.rules, func(r rule) bool { return len(r.from) > 0 && len(r.to) == 0 && len(r.when) == 0 })
	ofRequests := slices.IndexFunc(p.rules, func(r rule) bool { return len(r.from) == 0 && len(r.to) > 0 && len(r.when) == 0 })
	if ofCallers < 0 || ofRequests < 0 {
		return nil
	}
	return []policy.Warning{p.warn(warning.SplitRule, p.rules[ofRequests].field,
		"the rule lets in every caller, and %s lets in every request of its callers: write from and to in one item if both have to hold", p.rules[ofCallers].field)}
}

// lintOpen warns of a rule of an ALLOW that asks for nothing, beside one that does: nothing bounds callers and requests then.
func (p Policy) lintOpen() []policy.Warning {
	asks := func(r rule) bool { return len(r.from) > 0 || len(r.to) > 0 || len(r.when) > 0 }
	i := slices.IndexFunc(p.rules, func(r rule) bool { return !asks(r) })
	other := slices.IndexFunc(p.rules, asks)
	if p.resource.Spec.Action != actionAllow || i < 0 || other < 0 {
		return nil
	}
	return []policy.Warning{p.warn(warning.RuleForEverybody, p.rules[i].field,
		"the rule has no conditions and lets in every request, so that %s bounds nothing: add conditions, or delete the rule", p.rules[other].field)}
}

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
			if kind, _ := lintServerName(value); kind == "" && value != "*" {
				out = append(out, p.warn(warning.DenyByServerName, item(field, i), "a caller can send another server name than %s, or none, and is not denied then: %s", value, advice))
			}
		}
	}
	return out
}

// lintServerName says why no caller sends a server name; the kind is "" where one may.
func lintServerName(value string) (kind warning.Kind, reason string) {
	name := strings.TrimPrefix(value, "*")
	if name == value {
		name = strings.TrimSuffix(value, "*")
	}
	bare, port, _ := strings.Cut(name, ":")
	isPort := port != "" && strings.Trim(port, "0123456789") == ""
	switch err := servername.Check(value); {
	case strings.Contains(name, "*"):
		return "", ""
	case servername.Kept(value) != value:
		return warning.NeverMatches, "Envoy keeps a server name in small letters: write " + servername.Kept(value)
	case name == value && err != nil:
		return warning.NeverMatches, err.Error()
	case isPort && !servername.IsAddress(name):
		return warning.NeverMatches, "a server name has no port: write " + strings.TrimSuffix(value, name) + bare
	default:
		return "", ""
	}
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
