package xds

import (
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
)

// stage is what becomes one RBAC filter: a gate, a shadow, or both. Envoy asks the
// shadow first.
type stage struct{ gate, shadow *policy.Gate }

// stagesOf puts gates and shadows in the order in which Envoy asks them. A gate shares
// its filter with the last shadow in front of it.
func stagesOf(gates, shadows []policy.Gate) []stage {
	out := make([]stage, 0, len(gates)+len(shadows))
	next := 0
	for i := range gates {
		gate := &gates[i]
		for ; next < len(shadows) && shadows[next].Position(gates) <= i; next++ {
			out = append(out, stage{shadow: &shadows[next]})
		}
		if last := len(out) - 1; last >= 0 && out[last].gate == nil && out[last].shadow.Layer == gate.Layer {
			out[last].gate = gate
		} else {
			out = append(out, stage{gate: gate})
		}
	}
	for ; next < len(shadows); next++ {
		out = append(out, stage{shadow: &shadows[next]})
	}
	return out
}

func (s stage) layer() policy.Layer {
	if s.gate != nil {
		return s.gate.Layer
	}
	return s.shadow.Layer
}

func (s stage) network() (*networkrbacv3.RBAC, error) {
	enforced, observed, name, err := s.compile()
	return &networkrbacv3.RBAC{
		Matcher: enforced.matcher, Rules: enforced.rules,
		ShadowMatcher: observed.matcher, ShadowRules: observed.rules, ShadowRulesStatPrefix: name,
	}, err
}

func (s stage) http() (*httprbacv3.RBAC, error) {
	enforced, observed, name, err := s.compile()
	return &httprbacv3.RBAC{
		Matcher: enforced.matcher, Rules: enforced.rules,
		ShadowMatcher: observed.matcher, ShadowRules: observed.rules, ShadowRulesStatPrefix: name,
		TrackPerRuleStats: true,
	}, err
}

// compiled is a gate in the form that its filter takes: one of the two is set.
type compiled struct {
	matcher *matcherv3.Matcher
	rules   *rbacv3.RBAC
}

// compile returns both engines of the filter, and the name of its shadow.
func (s stage) compile() (enforced, observed compiled, name string, err error) {
	if s.gate != nil {
		if enforced, err = compileGate(*s.gate); err != nil {
			return enforced, observed, name, err
		}
	}
	if s.shadow != nil {
		name = s.shadow.Name
		observed, err = compileGate(*s.shadow)
	}
	return enforced, observed, name, err
}

func compileGate(gate policy.Gate) (c compiled, err error) {
	if gate.Form == policy.Named {
		c.rules, err = rbac.Named(gate)
	} else {
		c.matcher, err = rbac.Ordered(gate)
	}
	return c, err
}
