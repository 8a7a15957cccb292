package openregex

import (
	"slices"
	"strings"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/xds"
)

// Settled reports whether the classes of requests answer for what [Doubt] names: the decision of a
// request with a byte that is no UTF-8, on an Envoy whose expressions do not match such a byte. The program
// is that of the policies, and the cover has the classes of the program and of the filters.
//
// A path with such a byte meets no expression and no exact text. Where nothing else is asked of
// it, it is decided as one that meets none of them either, and there is a class of these. No host and no method
// has such a byte. The answer is no
// where an expression refuses requests: then the byte is a way past it, which no class shows.
func Settled(cover *classes.Cover, own policy.Program, f xds.Filters) bool {
	if !cover.Complete() || len(f.Routes)+len(f.HTTPAsks)+len(f.NetworkAsks) > 0 || find(xds.Filters{Network: f.Network}, true) != "" {
		return false
	}
	s := survey{asked: map[string][]policy.Is{}}
	s.program(own)
	for _, filter := range f.HTTP {
		s.refuses = s.refuses || filter.GetMatcher() != nil || filter.GetShadowMatcher() != nil
		s.rules(filter.GetRules())
		s.rules(filter.GetShadowRules())
	}
	if s.refuses {
		return false
	}
	for _, of := range s.open {
		asked := s.asked[of]
		if slices.ContainsFunc(asked, func(is policy.Is) bool { return !isWhole(is) }) ||
			!slices.ContainsFunc(cover.Classes, func(c classes.Class) bool { return meetsNone(c.Witness, asked) }) {
			return false
		}
	}
	return true
}

// survey is what the program and the filters ask of the values that callers write.
type survey struct {
	// asked has the comparisons with the path, the host and the method, by these names.
	asked map[string][]policy.Is
	// open are the values that an open expression is compared with. Refuses is true where one is
	// compared with another value, or refuses requests.
	open    []string
	refuses bool
}

// The values that the classes answer for. A request has each of them once.
const (
	ofPath   = "path"
	ofHost   = "host"
	ofMethod = "method"
)

func valueOf(a *policy.Attribute) string {
	switch {
	case a.Name == "header :path", a == attribute.Path, strings.HasPrefix(a.Name, "query"):
		return ofPath
	case a == attribute.Host:
		return ofHost
	case a == attribute.Method:
		return ofMethod
	default:
		return ""
	}
}

// isWhole reports whether a comparison with the whole value fails for each value that is no UTF-8.
func isWhole(is policy.Is) bool {
	whole := is.Attribute.Name == "header :path" || is.Attribute == attribute.Host || is.Attribute == attribute.Method
	return whole && (is.Match.Kind == policy.Regex || is.Match.Kind == policy.Exact)
}

func meetsNone(r policy.Request, asked []policy.Is) bool {
	return !slices.ContainsFunc(asked, func(is policy.Is) bool { return is.Holds(&r) })
}

func (s *survey) program(p policy.Program) {
	// A route is no rule: what it does not take, another one may.
	s.refuses = s.refuses || len(p.Routes) > 0
	for _, gate := range slices.Concat(p.Gates, p.Shadows) {
		s.refuses = s.refuses || gate.Asks != nil
		for _, rule := range gate.Rules {
			s.condition(rule.When, rule.Effect == policy.Allow && gate.Default.Effect == policy.Deny)
		}
	}
}

// condition notes the comparisons of a condition. Admits is true where a comparison that fails lets no
// request in that would be refused if it held.
func (s *survey) condition(c policy.Condition, admits bool) {
	switch c := c.(type) {
	case policy.And:
		for _, of := range c {
			s.condition(of, admits)
		}
	case policy.Or:
		for _, of := range c {
			s.condition(of, admits)
		}
	case policy.Not:
		s.condition(c.Condition, false)
	case policy.Is:
		s.comparison(c, admits)
	}
}

func (s *survey) comparison(is policy.Is, admits bool) {
	of := valueOf(is.Attribute)
	if of != "" {
		s.asked[of] = append(s.asked[of], is)
	}
	if is.Match.Kind == policy.Regex && !isOfCertificate(is.Attribute) && of != ofHost && of != ofMethod && isOpen(is.Match.Value) {
		s.open = append(s.open, of)
		s.refuses = s.refuses || of == "" || !admits
	}
}

func (s *survey) rules(rules *rbacv3.RBAC) {
	admits := rules.GetAction() == rbacv3.RBAC_ALLOW
	for _, p := range rules.GetPolicies() {
		for _, permission := range p.GetPermissions() {
			s.permission(permission, admits)
		}
		for _, principal := range p.GetPrincipals() {
			s.principal(principal, admits)
		}
	}
}

func (s *survey) permission(p *rbacv3.Permission, admits bool) {
	for _, of := range slices.Concat(p.GetAndRules().GetRules(), p.GetOrRules().GetRules()) {
		s.permission(of, admits)
	}
	if not := p.GetNotRule(); not != nil {
		s.permission(not, false)
	}
	if p.GetUrlPath() != nil || p.GetUriTemplate() != nil {
		s.comparison(attribute.Path.Prefix(""), admits)
	}
	s.header(p.GetHeader(), admits)
}

func (s *survey) principal(p *rbacv3.Principal, admits bool) {
	for _, of := range slices.Concat(p.GetAndIds().GetIds(), p.GetOrIds().GetIds()) {
		s.principal(of, admits)
	}
	if not := p.GetNotId(); not != nil {
		s.principal(not, false)
	}
	if p.GetUrlPath() != nil {
		s.comparison(attribute.Path.Prefix(""), admits)
	}
	s.header(p.GetHeader(), admits)
}

func (s *survey) header(h *routev3.HeaderMatcher, admits bool) {
	if h == nil {
		return
	}
	text, of := h.GetStringMatch(), attribute.Header(h.GetName())
	match := policy.Match{Kind: policy.Prefix}
	switch {
	case text.GetIgnoreCase():
	case text.GetSafeRegex() != nil:
		match = policy.Match{Kind: policy.Regex, Value: text.GetSafeRegex().GetRegex()}
	case text.GetExact() != "":
		match = policy.Match{Kind: policy.Exact, Value: text.GetExact()}
	}
	s.comparison(policy.Is{Attribute: of, Match: match}, admits && !h.GetInvertMatch())
}

// isOfCertificate reports whether the value is one of the certificate, which is ASCII.
func isOfCertificate(a *policy.Attribute) bool {
	return a == attribute.URISAN || a == attribute.DNSSAN
}
