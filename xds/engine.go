package xds

import (
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds/internal/rbac"
)

// compiled is a gate in the form that its filter takes: one of the two is set.
type compiled struct {
	matcher *matcherv3.Matcher
	rules   *rbacv3.RBAC
}

func compileGate(gate policy.Gate) (c compiled, err error) {
	if gate.Form == policy.Named {
		c.rules, err = rbac.Named(gate)
	} else {
		c.matcher, err = rbac.Ordered(gate)
	}
	return c, err
}

func compileNetwork(gate policy.Gate, shadow *policy.Gate) (*networkrbacv3.RBAC, error) {
	enforced, observed, err := compilePair(gate, shadow)
	return &networkrbacv3.RBAC{
		Matcher: enforced.matcher, Rules: enforced.rules,
		ShadowMatcher: observed.matcher, ShadowRules: observed.rules,
	}, err
}

func compileHTTP(gate policy.Gate, shadow *policy.Gate) (*httprbacv3.RBAC, error) {
	enforced, observed, err := compilePair(gate, shadow)
	return &httprbacv3.RBAC{
		Matcher: enforced.matcher, Rules: enforced.rules,
		ShadowMatcher: observed.matcher, ShadowRules: observed.rules,
		TrackPerRuleStats: true,
	}, err
}

func compilePair(gate policy.Gate, shadow *policy.Gate) (enforced, observed compiled, err error) {
	if enforced, err = compileGate(gate); err != nil || shadow == nil {
		return enforced, observed, err
	}
	observed, err = compileGate(*shadow)
	return enforced, observed, err
}
