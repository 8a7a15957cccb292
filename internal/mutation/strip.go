package mutation

import (
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// stripped is a gate that loses its no-match after it was compiled: no program can say
// that.
type stripped struct {
	original policy.Program
	at       place
	gate     policy.Gate
}

// from takes the no-match out of the filters.
func (s stripped) from(f xds.Filters) {
	var engines []*matcherv3.Matcher
	add := func(enforced, observed *matcherv3.Matcher, rules, shadowRules *rbacv3.RBAC) {
		if s.at.shadow {
			enforced, rules = observed, shadowRules
		}
		if enforced != nil || rules != nil {
			engines = append(engines, enforced)
		}
	}
	gates, http := s.original.Gates, f.HTTP
	if s.at.shadow {
		gates = s.original.Shadows
	}
	if s.at.route >= 0 {
		route := s.original.Routes[s.at.route]
		if gates = route.Gates; s.at.shadow {
			gates = route.Shadows
		}
		http = nil
		for _, of := range f.Routes {
			if of.Name == route.Name {
				http = of.HTTP
			}
		}
	}
	if s.gate.Layer == policy.L4 {
		for _, filter := range f.Network {
			add(filter.Matcher, filter.ShadowMatcher, filter.Rules, filter.ShadowRules)
		}
	} else {
		for _, filter := range http {
			add(filter.Matcher, filter.ShadowMatcher, filter.Rules, filter.ShadowRules)
		}
	}
	// The engines of a layer stand in the order of its gates.
	index := 0
	for _, gate := range gates[:s.at.index] {
		if gate.Layer == s.gate.Layer {
			index++
		}
	}
	if index < len(engines) {
		s.strip(engines[index])
	}
}

// strip leaves out each no-match that is the gate's default: a matcher that looks up
// identities has it under every key.
func (s stripped) strip(m *matcherv3.Matcher) {
	if m == nil {
		return
	}
	if end := m.GetOnNoMatch(); s.isDefault(end) {
		m.OnNoMatch = nil
	} else {
		s.strip(end.GetMatcher())
	}
	for _, field := range m.GetMatcherList().GetMatchers() {
		s.strip(field.GetOnMatch().GetMatcher())
	}
	for _, maps := range []*matcherv3.Matcher_MatcherTree_MatchMap{m.GetMatcherTree().GetExactMatchMap(), m.GetMatcherTree().GetPrefixMatchMap()} {
		for _, on := range maps.GetMap() {
			s.strip(on.GetMatcher())
		}
	}
}

func (s stripped) isDefault(on *matcherv3.Matcher_OnMatch) bool {
	var action rbacv3.Action
	if on.GetAction() == nil || on.GetAction().GetTypedConfig().UnmarshalTo(&action) != nil {
		return false
	}
	allows := action.GetAction() == rbacv3.RBAC_ALLOW
	return action.GetName() == s.gate.Default.Origin && allows == (s.gate.Default.Effect == policy.Allow)
}
