// Package evaluation judges one request straight from the text of the policies.
//
// It is the second opinion on package networkpolicy and on [policy.Decide].
//
// It guarantees that it shares the parsed text with them and nothing else: it selects and matches
// by itself, and calls no function of theirs. A test in internal/architecture holds that.
package evaluation

import (
	"fmt"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
)

// ForInbound selects the policies of the inbound, and returns a function that judges requests.
func ForInbound(ps []networkpolicy.Policy, in policy.Inbound, opts networkpolicy.Options) func(policy.Request) policy.Decision {
	q := question{in, opts, rulesOf(ps, in, opts)}
	return func(r policy.Request) policy.Decision {
		d, _, _ := q.judge(r)
		return d
	}
}

// Locate returns a function that says "file:line" of the rule that decides a request, and of
// the rule that decides in the shadow; "" where none does.
func Locate(ps []networkpolicy.Policy, in policy.Inbound, opts networkpolicy.Options) func(policy.Request) (decides, shadow string) {
	q := question{in, opts, rulesOf(ps, in, opts)}
	return func(r policy.Request) (string, string) {
		_, decides, shadow := q.judge(r)
		return decides, shadow
	}
}

// question is an inbound with the rules that are about it.
type question struct {
	inbound policy.Inbound
	opts    networkpolicy.Options
	rules   rules
}

// rules are those of the specs that select the workload.
type rules struct {
	allow, deny []written
	closes      bool
}

// written is a rule as it is written, with what is known of it.
type written struct {
	networkpolicy.Ingress
	namespace, origin, place string
	// ofStarting is true where the spec's selector has the label of pods that start.
	ofStarting bool
}

func rulesOf(ps []networkpolicy.Policy, in policy.Inbound, opts networkpolicy.Options) (out rules) {
	own := labelsOf(in.Workload, opts)
	for _, p := range ps {
		text := p.Resource()
		clusterwide := text.Kind == "CiliumClusterwideNetworkPolicy"
		add := func(spec networkpolicy.Spec, field, entry string) {
			if spec.EndpointSelector == nil || !clusterwide && own[podNamespace] != text.Metadata.Namespace {
				return
			}
			subject := *spec.EndpointSelector
			if !clusterwide {
				subject = withoutNamespace(subject)
			}
			if !meets(subject, own, "k8s") {
				return
			}
			origin := "cnp[" + text.Metadata.Namespace + "/" + text.Metadata.Name + "]-" + entry
			if clusterwide {
				origin = "ccnp[" + text.Metadata.Name + "]-" + entry
			}
			starting := namesKey(subject, "reserved:init")
			for i, r := range spec.Ingress {
				out.allow = append(out.allow, written{r, text.Metadata.Namespace, fmt.Sprintf("%singress[%d]", origin, i), p.Place(fmt.Sprintf("%s.ingress[%d]", field, i)), starting})
			}
			for i, r := range spec.IngressDeny {
				out.deny = append(out.deny, written{r, text.Metadata.Namespace, fmt.Sprintf("%singressDeny[%d]", origin, i), p.Place(fmt.Sprintf("%s.ingressDeny[%d]", field, i)), starting})
			}
			if says := spec.EnableDefaultDeny.Ingress; says == nil || *says {
				out.closes = out.closes || len(spec.Ingress) > 0 || len(spec.IngressDeny) > 0
			}
		}
		if text.Spec != nil {
			add(*text.Spec, "spec", "")
		}
		for i, spec := range text.Specs {
			add(*spec, fmt.Sprintf("specs[%d]", i), fmt.Sprintf("specs[%d]-", i))
		}
	}
	return out
}

// judge follows the order of the text: deny rules, allow rules, HTTP rules.
func (q question) judge(r policy.Request) (d policy.Decision, decides, shadow string) {
	d.Effect = policy.Allow
	if q.opts.PolicyEnforcement == "never" {
		return d, "", ""
	}
	who := q.callerOf(r)
	closes := q.rules.closes || q.opts.PolicyEnforcement == "always"
	deny := leastName(q.rules.deny, func(w written) bool { return q.names(w, who, r) })
	if !closes {
		deny = lesser(deny, leastName(q.rules.allow, func(w written) bool { return q.doubts(w, who, r) }))
	}
	lost := leastName(q.rules.allow, func(w written) bool { return q.loses(w) && q.names(w, who, r) })
	granted := leastName(q.rules.allow, func(w written) bool { return q.names(w, who, r) })
	met := leastName(q.rules.allow, func(w written) bool { return q.names(w, who, r) && (q.letsAllPass(w) || q.meetsHTTP(w, r)) })
	asks := closes && q.asksHTTP()
	if q.opts.PolicyAuditMode {
		return q.audit(deny, granted, met, lost, closes, asks)
	}
	denies := q.hasDenier(closes) || q.hasLoser()
	deny = lesser(deny, lost)
	switch {
	case deny != nil:
		d.Verdict = policy.Verdict{Effect: policy.Deny, Origin: deny.origin}
		return d, deny.place, ""
	case !closes:
		if denies {
			d.Verdict = policy.Verdict{Effect: policy.Allow}
		}
		return d, "", ""
	case granted == nil:
		d.Effect = policy.Deny
		return d, "", ""
	case !asks:
		d.Origin = granted.origin
		return d, granted.place, ""
	}
	d.Layer = policy.L7
	if met == nil {
		d.Effect = policy.Deny
		return d, "", ""
	}
	d.Origin = met.origin
	return d, met.place, ""
}

// audit is the decision in audit mode: connections are observed, and HTTP rules judge the
// callers that they alone are about.
func (q question) audit(deny, granted, met, lost *written, closes, asks bool) (d policy.Decision, decides, shadow string) {
	d.Effect = policy.Allow
	switch {
	case deny != nil:
		d.Shadowed, d.Shadow, shadow = true, policy.Verdict{Effect: policy.Deny, Origin: deny.origin}, deny.place
	case closes && granted == nil:
		d.Shadowed, d.Shadow = true, policy.Verdict{Effect: policy.Deny}
	case closes:
		d.Shadowed, d.Shadow, shadow = true, policy.Verdict{Effect: policy.Allow, Origin: granted.origin}, granted.place
	case q.hasDenier(closes):
		d.Shadowed, d.Shadow = true, policy.Verdict{Effect: policy.Allow}
	}
	if lost != nil && deny == nil {
		d.Verdict = policy.Verdict{Effect: policy.Deny, Origin: lost.origin}
		return d, lost.place, shadow
	}
	if !asks {
		return d, "", shadow
	}
	d.Layer = policy.L7
	free := deny != nil || granted == nil
	switch {
	case free && (met == nil || "audit" < met.origin):
		d.Origin = "audit"
		return d, "", shadow
	case met != nil:
		d.Origin = met.origin
		return d, met.place, shadow
	default:
		d.Effect = policy.Deny
		return d, "", shadow
	}
}

// hasDenier reports whether a deny rule is about the port and about some caller, or where nothing
// is closed, an allow rule about some caller who cannot prove what it demands.
func (q question) hasDenier(closes bool) bool {
	for _, w := range q.rules.deny {
		if q.onPort(w) && q.someone(w) {
			return true
		}
	}
	for _, w := range q.rules.allow {
		if !closes && q.onPort(w) && q.doubtsSomeone(w) {
			return true
		}
	}
	return false
}

// hasLoser reports whether an allow rule sends some caller to a proxy that reads HTTP, on tcp.
func (q question) hasLoser() bool {
	for _, w := range q.rules.allow {
		if q.loses(w) && q.letsSomeone(w) {
			return true
		}
	}
	return false
}

// lesser returns the rule with the lesser name; nil is none.
func lesser(a, b *written) *written {
	if a == nil || b != nil && b.origin < a.origin {
		return b
	}
	return a
}

// asksHTTP reports whether a rule with HTTP rules is about the port of an inbound of HTTP.
func (q question) asksHTTP() bool {
	if q.inbound.Protocol == policy.TCP {
		return false
	}
	for _, w := range q.rules.allow {
		if q.onPort(w) && q.hasHTTP(w) && q.letsSomeone(w) {
			return true
		}
	}
	return false
}

// leastName returns the rule with the least name that the function takes, nil where there is none.
func leastName(all []written, takes func(written) bool) *written {
	var found *written
	for i := range all {
		if (found == nil || all[i].origin < found.origin) && takes(all[i]) {
			found = &all[i]
		}
	}
	return found
}
