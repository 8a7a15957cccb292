// Package evaluation judges one request straight from the text of the policies.
//
// It is the second opinion on package authorization and on [policy.Decide]. It shares the
// parsed text with them and nothing else: it selects and matches by itself, and calls no
// function of theirs. A test in internal/architecture holds that.
package evaluation

import (
	"fmt"
	"sort"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
)

// ForInbound selects the policies of the inbound, and returns a function that judges requests.
func ForInbound(ps []authorization.Policy, in policy.Inbound, opts authorization.Options) func(policy.Request) policy.Decision {
	judge := judgeOf(ps, in, opts)
	return func(r policy.Request) policy.Decision {
		d, _, _ := judge(r)
		return d
	}
}

// Locate returns a function that says "file:line" of the rule that decides a request, and of
// the rule that decides in the shadow; "" where none does.
func Locate(ps []authorization.Policy, in policy.Inbound, opts authorization.Options) func(policy.Request) (decides, shadow string) {
	judge := judgeOf(ps, in, opts)
	return func(r policy.Request) (string, string) {
		_, decides, shadow := judge(r)
		return decides, shadow
	}
}

// pool holds the policies of one action that are enforced, or that are dry runs.
type pool struct {
	action string
	dry    bool
}

func judgeOf(ps []authorization.Policy, in policy.Inbound, opts authorization.Options) func(policy.Request) (d policy.Decision, decides, shadow string) {
	pools := map[pool][]authorization.Policy{}
	for _, p := range ps {
		text := p.Resource()
		if applies(text, in.Workload, opts) {
			value := text.Metadata.Annotations["istio.io/dry-run"]
			at := pool{text.Spec.Action, value == "true" || value == "1" || value == "t" || value == "T" || value == "True" || value == "TRUE"}
			pools[at] = append(pools[at], p)
		}
	}
	has := func(action string, dry bool) bool { return len(pools[pool{action, dry}]) > 0 }
	return func(r policy.Request) (d policy.Decision, decides, shadow string) {
		asked := question{inbound: in, opts: opts, r: r, tcp: in.Protocol == policy.TCP}
		hit := func(action string, dry bool) (name, place string) { return asked.first(pools[pool{action, dry}]) }
		layer := policy.L7
		if asked.tcp {
			layer = policy.L4
		}
		d.Effect = policy.Allow
		if customs := pools[pool{"CUSTOM", false}]; len(customs) > 0 {
			d.Layer = layer
			if name, place := asked.custom(customs); name != "" {
				d.Verdict = policy.Verdict{Effect: policy.Deny, Origin: name}
				return d, place, ""
			}
		}
		if has("DENY", true) {
			d.Shadowed, d.Shadow.Effect = true, policy.Allow
			if name, place := hit("DENY", true); name != "" {
				d.Shadow, shadow = policy.Verdict{Effect: policy.Deny, Origin: name}, place
			}
		}
		if has("DENY", false) {
			d.Layer = layer
			if name, place := hit("DENY", false); name != "" {
				d.Verdict = policy.Verdict{Effect: policy.Deny, Origin: name}
				return d, place, shadow
			}
		}
		if has("ALLOW", true) && (!d.Shadowed || d.Shadow.Effect == policy.Allow) {
			name, place := hit("ALLOW", true)
			d.Shadowed, d.Shadow, shadow = true, policy.Verdict{Effect: policy.Allow, Origin: name}, place
			if name == "" {
				d.Shadow.Effect = policy.Deny
			}
		}
		if has("ALLOW", false) {
			name, place := hit("ALLOW", false)
			d.Layer, d.Origin, decides = layer, name, place
			if name == "" {
				d.Effect = policy.Deny
			}
		}
		return d, decides, shadow
	}
}

// applies reports whether the policy is about the workload.
func applies(text authorization.AuthorizationPolicy, w policy.Workload, opts authorization.Options) bool {
	namespace := w.Namespace
	if namespace == "" {
		namespace = "default"
	}
	if text.Metadata.Namespace != namespace && text.Metadata.Namespace != opts.RootNamespace {
		return false
	}
	if text.Spec.Selector == nil {
		return true
	}
	for key, want := range text.Spec.Selector.MatchLabels {
		if value, ok := w.Labels[key]; !ok || value != want {
			return false
		}
	}
	return true
}

// question is a request to an inbound.
type question struct {
	inbound policy.Inbound
	opts    authorization.Options
	r       policy.Request
	tcp     bool
}

// custom returns the rule that sends the request to an authorizer which refuses it, "" for none.
// The authorizer of the lab allows a request with the header x-ext-authz: allow, and on tcp a
// connection with the server name allow.ext-authz.
func (q question) custom(ps []authorization.Policy) (name, place string) {
	byProvider := map[string][]authorization.Policy{}
	var providers []string
	for _, p := range ps {
		of := p.Resource().Spec.Provider.Name
		if byProvider[of] == nil {
			providers = append(providers, of)
		}
		byProvider[of] = append(byProvider[of], p)
	}
	sort.Strings(providers)
	for _, of := range providers {
		matched, at := q.first(byProvider[of])
		if matched == "" {
			continue
		}
		matched = "istio-ext-authz-" + of + "-" + matched
		known, passes := false, false
		for _, p := range q.opts.Providers {
			if p.Name != of {
				continue
			}
			known, passes = true, q.allowedOutside()
			if p.Unreachable {
				passes = p.GRPC.FailOpen
			}
		}
		switch {
		case !known || len(providers) > 1:
			return matched + "-deny-due-to-bad-CUSTOM-action", at
		case !passes:
			return matched, at
		}
	}
	return "", ""
}

func (q question) allowedOutside() bool {
	if q.tcp {
		return q.r.SNI == "allow.ext-authz"
	}
	var lines []string
	for _, h := range q.r.Headers {
		if strings.EqualFold(h.Name, "x-ext-authz") {
			lines = append(lines, h.Value)
		}
	}
	if q.r.JoinsLines {
		return strings.Join(lines, ",") == "allow"
	}
	for _, line := range lines {
		if line == "allow" {
			return true
		}
	}
	return false
}

// first returns the least name of the rules that match, and where the rule stands; "" where
// none does.
func (q question) first(ps []authorization.Policy) (name, place string) {
	for _, p := range ps {
		text := p.Resource()
		if text.Spec.Rules == nil {
			continue
		}
		for i, rule := range *text.Spec.Rules {
			if !q.meets(*rule, text) {
				continue
			}
			if own := fmt.Sprintf("ns[%s]-policy[%s]-rule[%d]", text.Metadata.Namespace, text.Metadata.Name, i); name == "" || own < name {
				name, place = own, p.Place(fmt.Sprintf("spec.rules[%d]", i))
			}
		}
	}
	return name, place
}

// meets reports whether the rule matches the request. Without a list, and with an empty one,
// every request meets it.
func (q question) meets(rule authorization.Rule, text authorization.AuthorizationPolicy) bool {
	if q.tcp && text.Spec.Action == "ALLOW" && asksHTTP(rule) {
		return false
	}
	met := rule.To == nil || len(*rule.To) == 0
	if rule.To != nil {
		for _, to := range *rule.To {
			met = met || q.operation(*to.Operation)
		}
	}
	called := rule.From == nil || len(*rule.From) == 0
	if rule.From != nil {
		for _, from := range *rule.From {
			called = called || q.source(*from.Source, text.Metadata.Namespace)
		}
	}
	if !met || !called {
		return false
	}
	if rule.When != nil {
		for _, c := range *rule.When {
			if !q.condition(*c, text.Metadata.Namespace) {
				return false
			}
		}
	}
	return true
}

func asksHTTP(rule authorization.Rule) bool {
	if rule.To != nil {
		for _, to := range *rule.To {
			o := to.Operation
			if len(o.Hosts)+len(o.NotHosts)+len(o.Methods)+len(o.NotMethods)+len(o.Paths)+len(o.NotPaths) > 0 {
				return true
			}
		}
	}
	if rule.From != nil {
		for _, from := range *rule.From {
			if len(from.Source.RequestPrincipals)+len(from.Source.NotRequestPrincipals) > 0 {
				return true
			}
		}
	}
	if rule.When != nil {
		for _, c := range *rule.When {
			if strings.HasPrefix(c.Key, "request.") {
				return true
			}
		}
	}
	return false
}

func (q question) operation(o authorization.Operation) bool {
	if !q.hasOne(o.Ports, o.NotPorts, q.port) {
		return false
	}
	return q.tcp || q.hasOne(o.Methods, o.NotMethods, q.method) && q.hasOne(o.Paths, o.NotPaths, q.path) && q.hasOne(o.Hosts, o.NotHosts, q.host)
}

func (q question) source(s authorization.Source, namespace string) bool {
	account := func(value string) bool { return q.serviceAccount(value, namespace) }
	return q.hasOne(s.Principals, s.NotPrincipals, q.principal) && q.hasOne(s.Namespaces, s.NotNamespaces, q.namespace) &&
		q.hasOne(s.ServiceAccounts, s.NotServiceAccounts, account) && q.hasOne(s.TrustDomains, s.NotTrustDomains, q.trustDomain) &&
		q.hasOne(s.IPBlocks, s.NotIPBlocks, q.peer) && q.hasOne(s.RemoteIPBlocks, s.NotRemoteIPBlocks, q.remote) &&
		(q.tcp || q.hasOne(s.RequestPrincipals, s.NotRequestPrincipals, q.requestPrincipal))
}

func (q question) condition(c authorization.Condition, namespace string) bool {
	name, path := brackets(c.Key)
	var holds func(value string) bool
	switch name {
	case "source.principal":
		holds = q.principal
	case "source.namespace":
		holds = q.namespace
	case "source.serviceAccount":
		holds = func(value string) bool { return q.serviceAccount(value, namespace) }
	case "source.trustDomain":
		holds = q.trustDomain
	case "source.ip":
		holds = q.peer
	case "remote.ip":
		holds = q.remote
	case "destination.ip":
		holds = q.isOwnAddress
	case "destination.port":
		holds = q.port
	case "connection.sni":
		holds = q.serverName
	case "request.headers":
		holds = func(value string) bool { return q.header(path[0], value) }
	case "request.auth.principal":
		holds = q.requestPrincipal
	case "request.auth.audiences":
		holds = func(value string) bool { return q.claim(value, "aud") }
	case "request.auth.presenter":
		holds = func(value string) bool { return q.claim(value, "azp") }
	case "request.auth.claims":
		holds = func(value string) bool { return q.claim(value, path...) }
	default:
		return false
	}
	return q.tcp && strings.HasPrefix(name, "request.") || q.hasOne(c.Values, c.NotValues, holds)
}

// brackets parts a[b][c] into a and the names in brackets.
func brackets(key string) (name string, path []string) {
	parts := strings.Split(key, "[")
	for _, part := range parts[1:] {
		path = append(path, strings.TrimSuffix(part, "]"))
	}
	return parts[0], path
}

// hasOne reports whether one of the values holds, where there are any, and none of the others.
func (q question) hasOne(values, not []string, holds func(string) bool) bool {
	found := len(values) == 0
	for _, value := range values {
		found = found || holds(value)
	}
	for _, value := range not {
		if holds(value) {
			return false
		}
	}
	return found
}
