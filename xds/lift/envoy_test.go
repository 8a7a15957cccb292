package lift

import (
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshproof/meshproof/internal/enginetest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// envoyDecides is what Envoy does with filters that others made.
func envoyDecides(f xds.Filters, r *policy.Request) policy.Decision {
	d := policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}
	ask := func(filter rbacFilter, layer policy.Layer) {
		if d.Effect == policy.Deny {
			return
		}
		if v, ok := enginetest.Judge(filter.GetShadowMatcher(), filter.GetShadowRules(), r); ok && (!d.Shadowed || d.Shadow.Effect == policy.Allow) {
			if v.Effect == policy.Log {
				v.Effect = policy.Allow // a shadow that logs says that it allows
			}
			d.Shadow, d.Shadowed = v, true
		}
		onlyLogs := filter.GetMatcher() == nil && filter.GetRules().GetAction() == rbacv3.RBAC_LOG
		if v, ok := enginetest.Judge(filter.GetMatcher(), filter.GetRules(), r); ok && !onlyLogs {
			d.Verdict, d.Layer = v, layer
		}
	}
	for _, filter := range f.Network {
		ask(filter, policy.L4)
	}
	for _, route := range f.Routes {
		if enginetest.Routes(route.Match, r) {
			for _, filter := range route.HTTP {
				ask(filter, policy.L7)
			}
			return d
		}
	}
	for _, filter := range f.HTTP {
		ask(filter, policy.L7)
	}
	return d
}
