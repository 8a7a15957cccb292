package mistake

import (
	"math"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// mutateLeaf makes the mistakes in the comparison of one attribute.
func mutateLeaf(c policy.Condition) (out []mutatedCondition) {
	is, ok := c.(policy.Is)
	if !ok || is.Attribute == nil {
		return nil
	}
	m := is.Match
	compare := func(k Kind, kind policy.MatchKind, value string, anyCase bool) {
		if slices.Contains(is.Attribute.Kinds, kind) {
			out = append(out, mutatedCondition{k, policy.Is{Attribute: is.Attribute, Match: policy.Match{Kind: kind, Value: value, AnyCase: anyCase}}})
		}
	}
	for _, value := range missedEnds(is) {
		compare(EndMissed, m.Kind, value, false)
	}
	switch m.Kind {
	case policy.Exact:
		compare(ExactToPrefix, policy.Prefix, m.Value, m.AnyCase)
		// Segments are compared in their own case alone.
		if !m.AnyCase {
			compare(ExactToPrefix, policy.Segments, m.Value, false)
		}
		compare(ExactToPresent, policy.Present, "", false)
		if is.Attribute == attribute.Host {
			out = append(out, mutatedCondition{PortIgnored, withoutPort(is)})
		}
	case policy.Prefix:
		compare(PrefixToExact, policy.Exact, m.Value, m.AnyCase)
	case policy.Segments:
		compare(SegmentsToPrefix, policy.Prefix, m.Segment(), false)
	case policy.Suffix:
		compare(EndsExchanged, policy.Prefix, m.Value, m.AnyCase)
	case policy.Contains:
		compare(ContainsToPrefix, policy.Prefix, m.Value, m.AnyCase)
	case policy.Regex:
		compare(Unanchored, policy.Regex, ".*(?:"+m.Value+").*", false)
	case policy.Template:
		fixed, _, _ := strings.Cut(m.Value, "*")
		fixed, _, _ = strings.Cut(fixed, "{")
		compare(TemplateToPrefix, policy.Prefix, fixed, false)
	case policy.Present:
		compare(PresentToEmpty, policy.Exact, "", false)
	}
	if loose, ok := unescapeDots(m); ok {
		compare(DotUnescaped, policy.Regex, loose, false)
	}
	if m.AnyCase {
		compare(CaseCompared, m.Kind, m.Value, false)
	} else if strings.ContainsFunc(m.Value, unicode.IsLetter) {
		compareInAnyCase(m, compare)
	}
	for _, other := range otherDomains(m) {
		compare(other.kind, other.match.Kind, other.match.Value, m.AnyCase && other.match.Kind != policy.Regex)
	}
	return out
}

// compareInAnyCase makes the mistake to compare letters without their case. An expression
// says so itself, and for the segments of a path Envoy has no such match.
func compareInAnyCase(m policy.Match, compare func(k Kind, kind policy.MatchKind, value string, anyCase bool)) {
	switch m.Kind {
	case policy.Exact, policy.Prefix, policy.Suffix, policy.Contains:
		compare(CaseIgnored, m.Kind, m.Value, true)
	case policy.Regex:
		compare(CaseIgnored, policy.Regex, "(?i)"+m.Value, false)
	}
}

// spiffeID is a text that begins as a SPIFFE ID does, with its trust domain.
var spiffeID = regexp.MustCompile(`^spiffe://([^/]+)(/.*)$`)

// Trust domains that compilers take where they know no other.
const (
	usualDomain = "cluster.local"
	otherDomain = "trust-domain.mesh"
)

// domainMistake is a match of a SPIFFE ID that is wrong about its trust domain.
type domainMistake struct {
	kind  Kind
	match policy.Match
}

// otherDomains returns matches of SPIFFE IDs that are wrong about the trust domain: the usual one, none,
// and any.
func otherDomains(m policy.Match) (out []domainMistake) {
	parts := spiffeID.FindStringSubmatch(m.Value)
	if parts == nil || m.Kind != policy.Exact && m.Kind != policy.Prefix {
		return nil
	}
	domain, path := parts[1], parts[2]
	expression := "spiffe://[^/]+" + regexp.QuoteMeta(path)
	if m.AnyCase {
		expression = "(?i)" + expression
	}
	another := usualDomain
	if domain == usualDomain {
		another = otherDomain
	}
	out = append(out, domainMistake{DomainMistaken, policy.Match{Kind: m.Kind, Value: "spiffe://" + another + path}})
	if m.Kind == policy.Prefix {
		expression += ".*"
		// Of a whole ID, this and another trust domain are the same mistake: it meets no caller of the mesh.
		out = append(out, domainMistake{DomainMistaken, policy.Match{Kind: m.Kind, Value: "spiffe:/" + path}})
	}
	return append(out, domainMistake{DomainIgnored, policy.Match{Kind: policy.Regex, Value: expression}})
}

// withoutPort compares a host without the port of the policy, or without that of the request.
func withoutPort(is policy.Is) policy.Condition {
	if name, _, err := net.SplitHostPort(is.Match.Value); err == nil {
		is.Match.Value = name
		return is
	}
	with := is
	with.Match.Kind, with.Match.Value = policy.Prefix, is.Match.Value+":"
	return policy.Or{is, with}
}

var trustDomain = regexp.MustCompile(`^(?:\.\*)?(?:(?:spiffe|kuma)://[^/]*)?`)

// unescapeDots returns the regular expression of a match whose dots stand for any character. A
// compiler may make an expression of other matches too.
func unescapeDots(m policy.Match) (loose string, ok bool) {
	expression := regexp.QuoteMeta(m.Value)
	switch m.Kind {
	case policy.Exact:
	case policy.Prefix:
		expression += ".*"
	case policy.Suffix:
		expression = ".*" + expression
	case policy.Regex:
		expression = m.Value
	default:
		return "", false
	}
	// A mesh has few trust domains, and no caller has one of another name.
	domain := trustDomain.FindString(expression)
	loose = domain + strings.ReplaceAll(expression[len(domain):], `\.`, ".")
	if loose == expression {
		return "", false
	}
	if m.AnyCase {
		loose = "(?i)" + loose
	}
	return loose, true
}

// missedEnds returns the ranges with an end that is off by one, and the blocks that are half or
// twice as large. A single port is a range of one, and an address a block of one.
func missedEnds(is policy.Is) (out []string) {
	m := is.Match
	switch admits := func(kind policy.MatchKind) bool { return slices.Contains(is.Attribute.Kinds, kind) }; {
	case m.Kind == policy.Range && is.Attribute.Family != "":
		from, to, err := claim.Interval(m.Value)
		for _, ends := range [][2]float64{{from, to - 1}, {from, to + 1}, {from + 1, to}, {from - 1, to}} {
			if text := claim.IntervalText(ends[0], ends[1]); err == nil && ends[0] < ends[1] && text != m.Value {
				out = append(out, text)
			}
		}
	case m.Kind == policy.Exact && admits(policy.Range) && is.Attribute.Family != "":
		number, err := strconv.ParseFloat(m.Value, 64)
		for _, other := range []float64{number - 1, number + 1} {
			if err == nil && claim.IsTold(other) {
				out = append(out, claim.NumberText(other))
			}
		}
	case m.Kind == policy.Range:
		first, last, err := endpoint.Ports(m.Value)
		for _, ends := range [][2]int{{int(first), int(last) - 1}, {int(first), int(last) + 1}, {int(first) + 1, int(last)}, {int(first) - 1, int(last)}} {
			if err == nil && ends[0] >= 0 && ends[0] <= ends[1] && ends[1] <= math.MaxUint16 {
				out = append(out, endpoint.PortsText(uint16(ends[0]), uint16(ends[1])))
			}
		}
	case m.Kind == policy.CIDR:
		block, err := endpoint.Block(m.Value)
		for _, bits := range []int{block.Bits() - 1, block.Bits() + 1} {
			if other, wrong := block.Addr().Prefix(bits); err == nil && wrong == nil && bits >= 0 {
				out = append(out, other.String())
			}
		}
	case m.Kind == policy.Exact && admits(policy.Range):
		port, err := endpoint.Port(m.Value)
		for _, other := range []int{int(port) - 1, int(port) + 1} {
			if err == nil && other > 0 && other <= math.MaxUint16 {
				out = append(out, strconv.Itoa(other))
			}
		}
	case m.Kind == policy.Exact && admits(policy.CIDR):
		address, err := netip.ParseAddr(m.Value)
		for _, other := range []netip.Addr{address.Prev(), address.Next()} {
			if err == nil && other.IsValid() {
				out = append(out, other.String())
			}
		}
	}
	return out
}

// oneOfSeveral reports whether conditions ask for one of several values that a request may have
// of an attribute, such as the lines of a header.
func oneOfSeveral(all []policy.Condition) bool {
	first, _ := all[0].(policy.Is)
	return first.Attribute != nil && first.Attribute.Each != nil && !slices.ContainsFunc(all, func(c policy.Condition) bool {
		is, _ := c.(policy.Is)
		return is.Attribute != first.Attribute
	})
}

// asksForClaim reports whether a condition asks for claims alone.
func asksForClaim(c policy.Condition) bool {
	asks := false
	for c := range policy.Walk(c) {
		switch is, isLeaf := c.(policy.Is); {
		case isLeaf && is.Attribute != nil && is.Attribute.Family == attribute.Claim("sub").Family:
			asks = true
		case isLeaf:
			return false
		}
	}
	return asks
}
