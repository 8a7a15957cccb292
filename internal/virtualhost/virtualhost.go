// Package virtualhost says which virtual host of a route configuration takes a request, as
// Envoy chooses it by the authority.
//
// It guarantees the order of Envoy's choice: a whole domain, then the longest "*.domain", then
// the longest "domain.*", then "*" (envoy.config.route.v3.VirtualHost, domains). Where the
// virtual host has no route for a request, no other one is asked. It knows no filter, and it asks
// no Envoy.
package virtualhost

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// Choice is a domain of a virtual host.
type Choice struct {
	Host   *routev3.VirtualHost
	Domain string

	kind       kind
	ignorePort bool
}

type kind uint8

// The kinds of domains, in the order of Envoy's choice.
const (
	wholeDomain kind = iota
	ending
	beginning
	everything
)

// Choices returns the domains of all virtual hosts in the order in which Envoy compares them
// with an authority. The error says which domain cannot be compared by a header of a request, or
// stands there twice.
func Choices(config *routev3.RouteConfiguration) ([]Choice, error) {
	var out []Choice
	known := map[string]bool{}
	for _, host := range config.GetVirtualHosts() {
		for _, domain := range host.GetDomains() {
			c := Choice{Host: host, Domain: strings.ToLower(domain), ignorePort: config.GetIgnorePortInHostMatching()}
			switch {
			case domain == "*":
				c.kind = everything
			case strings.HasPrefix(domain, "*"):
				c.kind, c.Domain = ending, c.Domain[1:]
			case strings.HasSuffix(domain, "*"):
				c.kind, c.Domain = beginning, c.Domain[:len(domain)-1]
			}
			if !plainDomain.MatchString(c.Domain) && c.kind != everything || c.ignorePort && strings.Contains(c.Domain, ":") {
				return nil, fmt.Errorf("the domain %q of virtual host %q is no host that a caller of the lab sends", domain, host.GetName())
			}
			if known[strings.ToLower(domain)] {
				return nil, fmt.Errorf("the domain %q of virtual host %q stands there twice, which Envoy refuses", domain, host.GetName())
			}
			known[strings.ToLower(domain)] = true
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(len(b.Domain), len(a.Domain)))
	})
	return out, nil
}

var plainDomain = regexp.MustCompile(`^[!-9;-Z\\^-~]*(:[0-9]+)?$`)

// NameOf returns the name of a route of the virtual host, with the domain unless it is "*".
func (c Choice) NameOf(route string) string {
	switch c.kind {
	case everything:
		return route
	case ending:
		return route + " of *" + c.Domain
	case beginning:
		return route + " of " + c.Domain + "*"
	default:
		return route + " of " + c.Domain
	}
}

// Headers returns the matchers that take the authorities of the domain, in any case of letters.
// A star is at least one character. There is none for "*".
func (c Choice) Headers() []*routev3.HeaderMatcher {
	if c.kind == everything {
		return nil
	}
	const authority = ":authority"
	by := func(m *matcherv3.StringMatcher, not bool) *routev3.HeaderMatcher {
		return &routev3.HeaderMatcher{Name: authority, InvertMatch: not, HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: m}}
	}
	if c.ignorePort {
		return []*routev3.HeaderMatcher{by(&matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: c.regex()}}}, false)}
	}
	exactly := &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: c.Domain}, IgnoreCase: true}
	switch c.kind {
	case ending:
		return []*routev3.HeaderMatcher{by(&matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Suffix{Suffix: c.Domain}, IgnoreCase: true}, false), by(exactly, true)}
	case beginning:
		return []*routev3.HeaderMatcher{by(&matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: c.Domain}, IgnoreCase: true}, false), by(exactly, true)}
	default:
		return []*routev3.HeaderMatcher{by(exactly, false)}
	}
}

// regex takes the domain with and without a port: what stands behind the last colon.
func (c Choice) regex() string {
	text := anyCase(c.Domain)
	// Without a port there is no colon, and with one there may be more in front of it.
	const char, more = `[!-9;-~]`, `[!-~]`
	switch c.kind {
	case ending:
		return char + "+" + text + "|" + more + "+" + text + ":" + char + "*"
	case beginning:
		return text + char + "+|" + text + more + "+:" + char + "*"
	default:
		return text + "(:" + char + "*)?"
	}
}

// anyCase is a regular expression for a text in any case of letters.
func anyCase(text string) string {
	var out strings.Builder
	for _, r := range text {
		if upper := strings.ToUpper(string(r)); upper != string(r) {
			out.WriteString("[" + upper + string(r) + "]")
		} else {
			out.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return out.String()
}
