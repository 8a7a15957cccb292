package authorization

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// term is a field of a rule with its values: one of values has to match, and none of not. An
// empty list asks for nothing.
type term struct {
	subject         *subject
	values, not     []string
	field, notField string
}

// lists returns the two lists of the term that have a value, with their fields.
func (t term) lists(yield func(field string, values []string) bool) {
	_ = (len(t.values) == 0 || yield(t.field, t.values)) && (len(t.not) == 0 || yield(t.notField, t.not))
}

// subject is what a field of a rule asks about.
type subject struct {
	name string
	// http is true for a subject that only an HTTP request has.
	http bool
	// missing says why the subject cannot be judged, "" where it can.
	missing string
	// most is the largest number of values, 0 for any.
	most int
	// refuse says why a value is refused, "" where it is not. The value is not empty.
	refuse func(value string) string
	// compile returns the condition that the subject has the value.
	compile func(value string, s scope) policy.Condition
}

// scope is what a value is read in.
type scope struct {
	namespace string
	opts      Options
	port      uint16
}

// subjects has the subjects by the name of their field.
var subjects = byName(
	&subject{
		name:   "principals",
		refuse: func(value string) string { return refuseText(strings.HasPrefix(value, "*") && value != "*", value) },
		compile: func(value string, s scope) policy.Condition {
			var or []policy.Condition
			for _, name := range s.opts.expand(value) {
				or = append(or, principal(name))
			}
			return anyOf(or)
		},
	},
	&subject{
		name:   "namespaces",
		refuse: func(value string) string { return refuseText(true, value) },
		compile: func(value string, _ scope) policy.Condition {
			return matches(attribute.URISAN, ".*/ns/"+strings.ReplaceAll(regexp.QuoteMeta(value), `\*`, ".*")+"/.*")
		},
	},
	&subject{
		name: "serviceAccounts", most: 16, refuse: refuseServiceAccount,
		compile: func(value string, s scope) policy.Condition {
			namespace, account, stated := strings.Cut(value, "/")
			if !stated {
				namespace, account = s.namespace, value
			}
			return matches(attribute.URISAN, fmt.Sprintf("spiffe://.+/ns/%s/(.+/|)sa/%s(/.+)?", regexp.QuoteMeta(namespace), regexp.QuoteMeta(account)))
		},
	},
	&subject{name: "requestPrincipals", http: true, missing: "it knows no token of a request"},
	&subject{name: "ipBlocks", missing: "it knows no address of a caller"},
	&subject{name: "remoteIpBlocks", missing: "it knows no address of a caller"},
	&subject{name: "hosts", http: true, missing: "it knows no host of a request"},
	&subject{
		name: "methods", http: true, refuse: refuseNothing,
		compile: func(value string, _ scope) policy.Condition {
			if value == "*" {
				return policy.Always
			}
			return text(attribute.Method, value)
		},
	},
	&subject{
		name: "paths", http: true, refuse: refusePath,
		compile: func(value string, _ scope) policy.Condition { return text(attribute.Path, value) },
	},
	&subject{
		name: "ports", refuse: refusePort,
		compile: func(value string, s scope) policy.Condition {
			return policy.Constant(portOf(value) == uint64(s.port))
		},
	},
)

func byName(all ...*subject) map[string]*subject {
	out := map[string]*subject{}
	for _, s := range all {
		out[s.name] = s
	}
	return out
}

// keys are the keys of when that ask for the same as a field.
var keys = map[string]string{
	"source.principal": "principals", "source.namespace": "namespaces", "source.serviceAccount": "serviceAccounts",
	"source.ip": "ipBlocks", "remote.ip": "remoteIpBlocks", "request.auth.principal": "requestPrincipals", "destination.port": "ports",
}

// unbuilt are the keys of when that cannot be judged yet.
var unbuilt = []string{
	"destination.ip", "connection.sni", "request.headers", "request.auth.audiences", "request.auth.presenter", "request.auth.claims",
	"source.trustDomain", "experimental.envoy.filters.",
}

// subjectOf returns the subject of a key of when, or the reason why there is none.
func subjectOf(key string) (*subject, string) {
	if name, ok := keys[key]; ok {
		return subjects[name], ""
	}
	for _, prefix := range unbuilt {
		if strings.HasPrefix(key, prefix) {
			return nil, fmt.Sprintf("meshproof cannot judge the attribute %s yet", key)
		}
	}
	switch {
	case key == "destination.namespace":
		return nil, key + " is the namespace of the policy: set metadata.namespace"
	case strings.HasPrefix(key, "destination.labels"):
		return nil, key + " is the selector of the policy: set spec.selector"
	default:
		return nil, fmt.Sprintf("the attribute %q is unknown", key)
	}
}

func refuseNothing(string) string { return "" }

// refuseText refuses a value that is compared by a regular expression and has a character
// that releases of Envoy read differently.
func refuseText(byRegex bool, value string) string {
	if byRegex && strings.ContainsFunc(value, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return fmt.Sprintf("%q has a character beyond ASCII: releases of Envoy compare it differently here", value)
	}
	return ""
}

func refuseServiceAccount(value string) string {
	namespace, account, stated := strings.Cut(value, "/")
	switch {
	case strings.Contains(value, "*"):
		return fmt.Sprintf("%q has a wildcard: a service account has none, write namespaces", value)
	case stated && (namespace == "" || account == "") || strings.Contains(account, "/"):
		return fmt.Sprintf("%q is no service account: write its name, or namespace/name", value)
	case len(value) > 320:
		return fmt.Sprintf("the service account has %d characters, at most 320 are allowed", len(value))
	default:
		return refuseText(true, value)
	}
}

// portOf returns the number of a port that is valid.
func portOf(value string) uint64 {
	port, _ := strconv.ParseUint(value, 10, 16)
	return port
}

func refusePort(value string) string {
	if _, err := strconv.ParseUint(value, 10, 16); err != nil {
		return fmt.Sprintf("%q is no port: write a number up to 65535", value)
	}
	return ""
}

// refusePath refuses braces. They belong to templates.
func refusePath(value string) string {
	if strings.ContainsAny(value, "{}") {
		return "meshproof cannot judge a path template yet: write a prefix such as /a/*"
	}
	return ""
}

// text compares an attribute with a value of a policy: a star at one end stands for any
// text, and a star alone for any text but the empty one. A star at the start is read first.
func text(a *policy.Attribute, value string) policy.Condition {
	if value == "*" {
		return matches(a, ".+")
	}
	if rest, ok := strings.CutPrefix(value, "*"); ok {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Suffix, Value: rest}}
	}
	if rest, ok := strings.CutSuffix(value, "*"); ok {
		return a.Prefix(rest)
	}
	return a.Exact(value)
}

// principal compares the names of a caller with a SPIFFE ID without its scheme.
func principal(value string) policy.Condition {
	const scheme = "spiffe://"
	if rest, ok := strings.CutPrefix(value, "*"); ok && rest != "" {
		return matches(attribute.URISAN, scheme+".*"+regexp.QuoteMeta(rest))
	}
	if value == "*" {
		return text(attribute.URISAN, value)
	}
	return text(attribute.URISAN, scheme+value)
}

func matches(a *policy.Attribute, regex string) policy.Condition {
	return policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Regex, Value: regex}}
}
