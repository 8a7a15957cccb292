package authorization

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/condition"
	"github.com/meshproof/meshproof/internal/spelling"
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
}

// subjects has the subjects by the name of their field.
var subjects = byName(
	&subject{
		name:   "principals",
		refuse: func(value string) string { return refuseText(strings.HasPrefix(value, "*") && value != "*", value) },
		compile: func(value string, s scope) policy.Condition {
			var or []policy.Condition
			for _, name := range s.opts.Expand(value) {
				or = append(or, principal(name))
			}
			return condition.Any(or)
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
	&subject{name: "requestPrincipals", http: true, refuse: refuseNothing, compile: func(value string, _ scope) policy.Condition { return requestPrincipal(value) }},
	&subject{
		name: "ipBlocks", refuse: refuseBlock,
		compile: func(value string, _ scope) policy.Condition { return inBlock(attribute.SourceAddress, value) },
	},
	&subject{
		name: "remoteIpBlocks", refuse: refuseBlock,
		compile: func(value string, _ scope) policy.Condition { return inBlock(attribute.RemoteAddress, value) },
	},
	&subject{
		name: "trustDomains", refuse: refuseTrustDomain,
		compile: func(value string, s scope) policy.Condition {
			var or []policy.Condition
			for _, domain := range s.opts.domains(value) {
				or = append(or, trustDomain(domain))
			}
			return condition.Any(or)
		},
	},
	&subject{
		name: "hosts", http: true, refuse: refuseNothing,
		compile: func(value string, _ scope) policy.Condition {
			is := header(attribute.Host, value)
			is.Match.AnyCase = is.Match.Kind != policy.Present
			return is
		},
	},
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
		compile: func(value string, _ scope) policy.Condition {
			if isTemplate(value) {
				return policy.Is{Attribute: attribute.Path, Match: policy.Match{Kind: policy.Template, Value: automaton.Wildcards(value)}}
			}
			return text(attribute.Path, value)
		},
	},
	&subject{
		name: "ports", refuse: refusePort,
		compile: func(value string, _ scope) policy.Condition {
			if portOf(value) == 0 {
				return policy.Never
			}
			return attribute.DestinationPort.Exact(strconv.FormatUint(portOf(value), 10))
		},
	},
	&subject{
		name: "destination.ip", refuse: refuseBlock,
		compile: func(value string, _ scope) policy.Condition { return inBlock(attribute.DestinationAddress, value) },
	},
	&subject{
		name: "connection.sni", refuse: refuseNothing,
		compile: func(value string, _ scope) policy.Condition { return text(attribute.SNI, value) },
	},
	claimSubject("request.auth.audiences", "aud"),
	claimSubject("request.auth.presenter", "azp"),
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
	"source.trustDomain": "trustDomains", "source.ip": "ipBlocks", "remote.ip": "remoteIpBlocks", "request.auth.principal": "requestPrincipals", "destination.port": "ports",
}

// ofFilters begins the keys of when that ask for the dynamic metadata of a filter of Envoy. Behind
// it Istio reads the name of the filter and, in brackets, the name of what the filter wrote
// (envoyFilterGenerator). Its only documented use is experimental.envoy.filters.network.mysql_proxy[db.table],
// and a filter for the protocol of a database stands in no sidecar by default.
const ofFilters = "experimental.envoy.filters."

// refuseFilter says why what a filter wrote cannot be judged.
func refuseFilter(key string) string {
	filter, path, ok := cutBrackets(strings.TrimPrefix(key, "experimental."))
	if !ok {
		return fmt.Sprintf("the attribute %s names no filter with a name in brackets, as in experimental.envoy.filters.network.mysql_proxy[db.table]", key)
	}
	return fmt.Sprintf("meshproof cannot judge the attribute %s: it asks for what the filter %s of the sidecar wrote under %q (dynamic metadata), and the lab does not have that filter", key, filter, strings.Join(path, "]["))
}

// subjectOf returns the subject of a key of when, or the reason why there is none.
func subjectOf(key string) (*subject, string) {
	if s := subjects[cmp.Or(keys[key], key)]; s != nil && strings.Contains(key, ".") {
		return s, ""
	}
	if strings.HasPrefix(key, ofFilters) {
		return nil, refuseFilter(key)
	}
	name, path, bracketed := cutBrackets(key)
	switch {
	case name == "request.headers" && bracketed && len(path) == 1:
		return headerSubject(key, path[0])
	case name == "request.auth.claims" && bracketed && len(path) > 1 && path[len(path)-1] == claim.Scalar:
		return nil, fmt.Sprintf("meshproof cannot judge a claim of the name %s: it means a number to meshproof", claim.Scalar)
	case name == "request.auth.claims" && bracketed:
		return claimSubject(key, path...), ""
	case strings.HasPrefix(key, "request.headers") && strings.Count(key, "[") > 1:
		// Istio takes such a key for one header with brackets in its name.
		return nil, fmt.Sprintf("the name is not in brackets of its own: write one pair, as in %s[a]", name)
	case strings.HasPrefix(key, "request.headers"), strings.HasPrefix(key, "request.auth.claims"):
		return nil, fmt.Sprintf("the name is not in brackets, as in %s[a]", name)
	case key == "destination.namespace":
		return nil, key + " is the namespace of the policy: set metadata.namespace"
	case strings.HasPrefix(key, "destination.labels"):
		return nil, key + " is the selector of the policy: set spec.selector"
	default:
		return nil, fmt.Sprintf("the attribute %q is unknown%s", key, meantKey(name))
	}
}

// meantKey suggests the key of when that a misspelt one means.
func meantKey(name string) string {
	known := slices.Collect(maps.Keys(keys))
	for name := range subjects {
		if strings.Contains(name, ".") {
			known = append(known, name)
		}
	}
	slices.Sort(known)
	for _, key := range []string{"request.headers", "request.auth.claims"} {
		known = append(known, key+"[a]")
		if _, close := spelling.Closest(name, []string{key}); close {
			return fmt.Sprintf(": did you mean %s[a]?", key)
		}
	}
	if meant, close := spelling.Closest(name, known); close && spelling.Distance(name, meant) <= 2 { // many begin alike
		return fmt.Sprintf(": did you mean %s?", meant)
	}
	return ": use one of " + strings.Join(known, ", ")
}

// cutBrackets parts a[b][c] into a and the names in brackets, and reports whether there are
// such names and nothing behind them.
func cutBrackets(key string) (name string, path []string, ok bool) {
	name, rest, ok := strings.Cut(key, "[")
	for ok {
		inner, behind, closed := strings.Cut(rest, "]")
		if !closed || inner == "" || strings.Contains(inner, "[") {
			return name, nil, false
		}
		path = append(path, inner)
		if behind == "" {
			return name, path, true
		}
		rest, ok = strings.CutPrefix(behind, "[")
	}
	return name, nil, false
}

// headerSubject is the subject of a header.
func headerSubject(key, name string) (*subject, string) {
	a := attribute.Header(name)
	if len(a.Forms) == 0 {
		return nil, fmt.Sprintf("meshproof cannot judge the header %s: Envoy or the codec of a caller writes it", name)
	}
	return &subject{
		name: key, http: true, refuse: refuseNothing,
		compile: func(value string, _ scope) policy.Condition {
			if value == "*" && a == attribute.Method {
				return policy.Always
			}
			return header(a, value)
		},
	}, ""
}

// claimSubject is the subject of a claim, which is a text or a list of texts.
func claimSubject(key string, path ...string) *subject {
	return &subject{
		name: key, http: true, refuse: refuseNothing,
		compile: func(value string, _ scope) policy.Condition {
			return policy.Or{text(attribute.Claim(path...), value), text(attribute.Claim(append(slices.Clone(path), "[]")...), value)}
		},
	}
}

func inBlock(a *policy.Attribute, value string) policy.Condition {
	block, _ := blockOf(value)
	if block.IsSingleIP() {
		return a.Exact(block.Addr().String())
	}
	return policy.Is{Attribute: a, Match: policy.Match{Kind: policy.CIDR, Value: block.String()}}
}

// trustDomain compares the trust domain of the caller's names.
func trustDomain(value string) policy.Condition {
	const scheme = "spiffe://"
	switch {
	case value == "*":
		return attribute.URISAN.Prefix(scheme)
	case strings.Contains(value, "*"):
		return matches(attribute.URISAN, scheme+strings.Replace(regexp.QuoteMeta(value), `\*`, "[^/]*", 1)+"/.*")
	default:
		return attribute.URISAN.Prefix(scheme + value + "/")
	}
}

// requestPrincipal compares issuer and subject of a token with a text "issuer/subject", which
// is parted at its last slash. A star stands at the start of the issuer, or at the end of the
// subject; without a slash it stands for the other one as a whole too.
func requestPrincipal(value string) policy.Condition {
	something := policy.Match{Kind: policy.Regex, Value: ".+"}
	end := func(value string) policy.Match {
		if value == "*" {
			return something
		}
		return policy.Match{Kind: policy.Suffix, Value: strings.TrimPrefix(value, "*")}
	}
	start := func(value string) policy.Match {
		if value == "*" {
			return something
		}
		return policy.Match{Kind: policy.Prefix, Value: strings.TrimSuffix(value, "*")}
	}
	issuer, subject, parted := cutLast(value)
	switch {
	case value == "*":
		return ofToken(something, something)
	case value[0] == '*' && parted:
		return ofToken(end(issuer), policy.Match{Value: subject})
	case value[0] == '*':
		return ofToken(something, end(value))
	case strings.HasSuffix(value, "*") && parted:
		return ofToken(policy.Match{Value: issuer}, start(subject))
	case strings.HasSuffix(value, "*"):
		return ofToken(start(value), something)
	default:
		return ofToken(policy.Match{Value: issuer}, policy.Match{Value: subject})
	}
}

// ofToken returns the condition that a verified token has an issuer and a subject.
func ofToken(issuer, subject policy.Match) policy.And {
	return policy.And{
		policy.Is{Attribute: attribute.Claim("iss"), Match: issuer},
		policy.Is{Attribute: attribute.Claim("sub"), Match: subject},
	}
}

// cutLast parts a text at its last slash. Without one all of it is the first part.
func cutLast(value string) (before, behind string, found bool) {
	if i := strings.LastIndexByte(value, '/'); i >= 0 {
		return value[:i], value[i+1:], true
	}
	return value, "", false
}

// header compares a header as text does. A star alone asks for its presence.
func header(a *policy.Attribute, value string) policy.Is {
	if value == "*" {
		return policy.Is{Attribute: a, Match: policy.Match{Kind: policy.Present}}
	}
	return text(a, value).(policy.Is)
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
