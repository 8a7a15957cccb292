package authorization

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
	"github.com/meshproof/meshproof/policy/manifest"
)

const kind = "AuthorizationPolicy"

// Kinds is the one kind.
var Kinds = []manifest.Head{{APIVersion: object.Group, Kind: kind}}

// Owns reports whether the document is an AuthorizationPolicy of Istio, in any version.
func Owns(doc manifest.Document) bool { return object.Owns(doc, kind) }

// ParseAll parses each document, and refuses a policy that is there twice. Where there is an
// error it returns no policies, and all errors joined, one line each.
func ParseAll(docs []manifest.Document) ([]Policy, error) { return policylist.Parse(docs, Parse) }

// Parse reads one policy. Its errors are [*manifest.Error], all of them joined. It refuses a
// field that is unknown or has a wrong type, what Istio's webhook refuses, and what this
// package cannot judge.
func Parse(doc manifest.Document) (Policy, error) {
	var resource AuthorizationPolicy
	if err := doc.Decode(&resource); err != nil {
		return Policy{}, err
	}
	if !object.IsSet(doc, "spec.action") {
		resource.Spec.Action = actionAllow
	}
	r := &reader{doc: doc, action: resource.Spec.Action}
	resource.Complete(r.refuse)
	p := Policy{doc: doc, resource: resource}
	r.checkSpec(resource.Spec)
	p.observes = r.readDryRun(resource)
	if resource.Spec.Rules != nil {
		p.rules = r.readRules(*resource.Spec.Rules)
	}
	if len(r.errs) > 0 {
		return Policy{}, errors.Join(r.errs...)
	}
	return p, nil
}

// reader collects the errors of one policy.
type reader struct {
	doc    manifest.Document
	action string
	errs   []error
}

func (r *reader) refuse(field, format string, args ...any) {
	r.errs = append(r.errs, r.doc.Errorf(field, format, args...))
}

func item(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

func (r *reader) checkSpec(spec Spec) {
	object.RefuseTargets(r.doc, r.refuse)
	spec.Selector.Check(r.refuse)
	switch spec.Action {
	case actionAllow, actionAudit, actionDeny:
		if spec.Provider != nil {
			r.refuse("spec.provider", "only the action %s has a provider", actionCustom)
		}
	case actionCustom:
		if spec.Provider == nil || spec.Provider.Name == "" {
			r.refuse("spec.provider.name", "the action %s asks an authorizer: name one of the extensionProviders of the mesh config", actionCustom)
		}
		if spec.Rules == nil || len(*spec.Rules) == 0 {
			r.refuse("spec.rules", "%s without a rule never asks: write [{}] to ask about every request", actionCustom)
		}
	default:
		r.refuse("spec.action", "%q is unknown: use %s, %s, %s or %s", spec.Action, actionAllow, actionDeny, actionAudit, actionCustom)
		return
	}
	if spec.Action == actionDeny && (spec.Rules == nil || len(*spec.Rules) == 0) {
		r.refuse("spec.rules", "%s without a rule never denies: write [{}] to deny every request", actionDeny)
	}
}

func (r *reader) readDryRun(of AuthorizationPolicy) bool {
	text, written := of.Metadata.Annotations[object.DryRun]
	if !written {
		return false
	}
	field := fmt.Sprintf("metadata.annotations[%q]", object.DryRun)
	on, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		r.refuse(field, "%q is neither true nor false", text)
	case of.Spec.Action != actionAllow && of.Spec.Action != actionDeny:
		r.refuse(field, "the action %s has no dry run: only %s and %s have", of.Spec.Action, actionAllow, actionDeny)
	}
	return on
}

// maxRules is the largest number of rules, and of sources of a rule, in the CRD.
const maxRules = 512

func (r *reader) checkNumber(field string, n int) {
	if n > maxRules {
		r.refuse(field, "the list has %d items, at most %d are allowed", n, maxRules)
	}
}

func (r *reader) readRules(from []*Rule) []rule {
	r.checkNumber("spec.rules", len(from))
	out := make([]rule, len(from))
	for i, rule := range from {
		field := item("spec.rules", i)
		out[i].field = field
		if rule == nil {
			r.refuse(field, "the rule has no value: write {} to match every request")
			continue
		}
		if rule.From != nil {
			out[i].from = r.readFrom(field+".from", *rule.From)
		}
		if rule.To != nil {
			out[i].to = r.readTo(field+".to", *rule.To)
		}
		if rule.When != nil {
			out[i].when = r.readWhen(field+".when", *rule.When)
		}
	}
	return out
}

// readFrom returns nil for an empty list. Istio means to refuse one, and takes it as absent:
// its messages do not tell the two apart (ApplyJSON of istio.io/istio/pkg/config).
func (r *reader) readFrom(field string, from []*RuleFrom) [][]term {
	if len(from) == 0 {
		return nil
	}
	r.checkNumber(field, len(from))
	out := make([][]term, len(from))
	for i, f := range from {
		at := item(field, i) + ".source"
		if f == nil || f.Source == nil {
			r.refuse(at, "the source is missing: leave from out to mean every caller")
			continue
		}
		s := f.Source
		// An empty list counts as well: the CRD asks whether the field is there.
		if (s.ServiceAccounts != nil || s.NotServiceAccounts != nil) && (s.Principals != nil || s.NotPrincipals != nil || s.Namespaces != nil || s.NotNamespaces != nil) {
			r.refuse(at, "service accounts cannot stand beside principals or namespaces: write a source for each")
		}
		for _, l := range []struct {
			name        string
			values, not []string
		}{
			{"principals", s.Principals, s.NotPrincipals}, {"requestPrincipals", s.RequestPrincipals, s.NotRequestPrincipals},
			{"namespaces", s.Namespaces, s.NotNamespaces}, {"serviceAccounts", s.ServiceAccounts, s.NotServiceAccounts},
			{"trustDomains", s.TrustDomains, s.NotTrustDomains},
			{"ipBlocks", s.IPBlocks, s.NotIPBlocks}, {"remoteIpBlocks", s.RemoteIPBlocks, s.NotRemoteIPBlocks},
		} {
			out[i] = r.add(out[i], at, l.name, l.values, l.not)
		}
		if len(out[i]) == 0 {
			r.refuse(at, "the source is empty: leave from out to mean every caller")
		}
	}
	return out
}

// readTo returns nil for an empty list, see readFrom.
func (r *reader) readTo(field string, to []*RuleTo) [][]term {
	if len(to) == 0 {
		return nil
	}
	out := make([][]term, len(to))
	for i, t := range to {
		at := item(field, i) + ".operation"
		if t == nil || t.Operation == nil {
			r.refuse(at, "the operation is missing: leave to out to mean every operation")
			continue
		}
		o := t.Operation
		for _, l := range []struct {
			name        string
			values, not []string
		}{{"hosts", o.Hosts, o.NotHosts}, {"methods", o.Methods, o.NotMethods}, {"paths", o.Paths, o.NotPaths}, {"ports", o.Ports, o.NotPorts}} {
			out[i] = r.add(out[i], at, l.name, l.values, l.not)
		}
		if len(out[i]) == 0 {
			r.refuse(at, "the operation is empty: leave to out to mean every operation")
		}
	}
	return out
}

// add adds the term of a field and of the field that begins with not.
func (r *reader) add(terms []term, at, name string, values, not []string) []term {
	if len(values)+len(not) == 0 {
		return terms
	}
	subject := subjects[name]
	t := term{subject: subject, values: values, not: not, field: at + "." + name, notField: at + ".not" + strings.ToUpper(name[:1]) + name[1:]}
	r.check(subject, t.field, t.values)
	r.check(subject, t.notField, t.not)
	for field, values := range t.lists {
		r.checkCustom(subject, field, values)
	}
	return append(terms, t)
}

func (r *reader) readWhen(field string, when []*Condition) []term {
	var out []term
	for i, c := range when {
		at := item(field, i)
		if c == nil || c.Key == "" {
			r.refuse(at+".key", "the key is missing")
			continue
		}
		if len(c.Values)+len(c.NotValues) == 0 {
			r.refuse(at, "the condition has no value: write values, notValues or both")
			continue
		}
		subject, reason := subjectOf(c.Key)
		if reason != "" {
			r.refuse(at+".key", "%s", reason)
			continue
		}
		r.checkCustom(subject, at+".key", []string{c.Key})
		t := term{subject: subject, values: c.Values, not: c.NotValues, field: at + ".values", notField: at + ".notValues"}
		r.check(subject, t.field, t.values)
		r.check(subject, t.notField, t.not)
		out = append(out, t)
	}
	return out
}

// checkCustom refuses a field about the caller's name or token, which Istio does not take with
// CUSTOM.
func (r *reader) checkCustom(s *subject, field string, values []string) {
	names := []string{"principals", "requestPrincipals", "namespaces", "serviceAccounts", "trustDomains"}
	if r.action == actionCustom && len(values) > 0 && (slices.Contains(names, s.name) || strings.HasPrefix(s.name, "request.auth.")) {
		r.refuse(field, "the action %s has no field about who calls: the authorizer decides that", actionCustom)
	}
}

// check refuses values that the subject does not take.
func (r *reader) check(s *subject, field string, values []string) {
	if len(values) == 0 {
		return
	}
	if s.most > 0 && len(values) > s.most {
		r.refuse(field, "the list has %d values, at most %d are allowed", len(values), s.most)
	}
	for i, value := range values {
		reason := "an empty value is not allowed"
		if value != "" {
			reason = s.refuse(value)
		}
		if reason != "" {
			r.refuse(item(field, i), "%s", reason)
		}
	}
}
