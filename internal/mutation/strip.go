package mutation

import (
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

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
	var enforced, observed *matcherv3.Matcher
	switch {
	case s.at.route >= 0:
		for _, route := range f.Routes {
			if route.Name == s.original.Routes[s.at.route].Name {
				enforced, observed = route.RBAC.GetMatcher(), route.RBAC.GetShadowMatcher()
			}
		}
	case s.gate.Layer == policy.L4 && len(f.Network) > 0:
		enforced, observed = f.Network[0].GetMatcher(), f.Network[0].GetShadowMatcher()
	case s.gate.Layer == policy.L7 && len(f.HTTP) > 0:
		var filter *httprbacv3.RBAC = f.HTTP[0]
		enforced, observed = filter.GetMatcher(), filter.GetShadowMatcher()
	}
	if s.at.shadow {
		enforced = observed
	}
	s.strip(enforced)
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
