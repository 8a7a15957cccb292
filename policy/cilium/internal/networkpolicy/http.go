package networkpolicy

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// changes are the mismatches that let the request pass and change or log it.
var changes = []string{"LOG", "ADD", "DELETE", "REPLACE"}

// readL7 reads the HTTP rules of an entry; nil means none.
func (r *reader) readL7(field string, from PortRule, where direction) (out []policy.Condition) {
	if from.Rules == nil {
		return nil
	}
	rules := from.Rules
	at := field + ".rules"
	for _, gone := range []struct {
		name  string
		value any
	}{{"kafka", rules.Kafka}, {"l7proto", rules.L7Proto}, {"l7", rules.L7}} {
		if gone.value != nil {
			r.refuse(at+"."+gone.name, "Cilium 1.20 has no such rules: only http on ingress")
		}
	}
	if len(rules.DNS) > 0 && !where.egress {
		r.refuse(at+".dns", "rules about DNS are for egress only")
	}
	if (rules.DNS == nil) == (rules.HTTP == nil) {
		r.refuse(at, "the rules of an entry are of one protocol: write one of http and dns, or leave rules out")
	}
	r.checkDNS(field, from)
	if len(rules.HTTP) == 0 {
		return nil
	}
	if where.node {
		r.refuse(at, "a policy of nodes has no HTTP rules")
	}
	for k, port := range from.Ports {
		switch {
		case !strings.EqualFold(port.Protocol, "TCP"):
			r.refuse(item(field+".ports", k)+".protocol", "HTTP rules need the protocol TCP, and it has to be written")
		case port.Port == "0":
			r.refuse(item(field+".ports", k)+".port", "HTTP rules need a port: 0 is every port")
		}
	}
	for i, rule := range rules.HTTP {
		out = append(out, r.readHTTP(item(at+".http", i), rule, where))
	}
	return out
}

func (r *reader) readHTTP(field string, from HTTPRule, where direction) policy.Condition {
	var all []policy.Condition
	for _, f := range []struct {
		name, value string
		attribute   *policy.Attribute
	}{{"path", from.Path, attribute.Header(":path")}, {"method", from.Method, attribute.Method}, {"host", from.Host, attribute.Host}} {
		if f.value == "" {
			continue
		}
		is := policy.Is{Attribute: f.attribute, Match: policy.Match{Kind: policy.Regex, Value: f.value}}
		if err := unjudged(is); err != nil {
			r.refuse(field+"."+f.name, "%v", err)
		}
		all = append(all, is)
	}
	for i, header := range from.Headers {
		at := item(field+".headers", i)
		name, value, hasValue := strings.Cut(header, " ")
		if hasValue {
			name = strings.TrimRight(name, ":")
		}
		all = append(all, r.readHeader(at, name, value, hasValue))
	}
	for i, header := range from.HeaderMatches {
		at := item(field+".headerMatches", i)
		switch {
		case header.Secret != nil && (header.Secret.Name == nil || *header.Secret.Name == ""):
			r.refuse(at+".secret", "a secret has a name")
		case header.Secret != nil && !where.egress:
			r.refuse(at+".secret", "meshproof cannot read a secret of the cluster: write the value")
		case slices.Contains(changes, header.Mismatch) && where.egress:
		case slices.Contains(changes, header.Mismatch):
			r.refuse(at+".mismatch", "meshproof cannot prove %s: it lets the request pass and changes or logs it", header.Mismatch)
		case r.has(at + ".mismatch"):
			r.refuse(at+".mismatch", "%q is unknown: leave it out to refuse the request", header.Mismatch)
		}
		all = append(all, r.readHeader(at+".name", header.Name, header.Value, header.Value != ""))
	}
	return condition.All(all)
}

func (r *reader) readHeader(field, name, value string, hasValue bool) policy.Condition {
	if plain := strings.TrimPrefix(name, ":"); !httpguts.ValidHeaderFieldName(plain) {
		r.refuse(field, "%q is no name of a header", name)
		return policy.Never
	}
	a := attribute.Header(name)
	is := policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Present}}
	if hasValue {
		is = a.Exact(value)
	}
	if len(a.Forms) == 0 {
		r.refuse(field, "meshproof cannot judge the header %s: Envoy or the codec of a caller writes it", name)
	} else if err := unjudged(is); err != nil {
		r.refuse(field, "%v", err)
	}
	return is
}

// unjudged says why no gate can judge the condition, nil where one can.
func unjudged(c policy.Condition) error {
	rule := policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow}, When: c}
	err := policy.Program{Gates: []policy.Gate{{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{rule}}}}.Check()
	if reason := errors.Unwrap(errors.Unwrap(err)); reason != nil {
		return reason
	}
	return err
}
