package selection

import (
	"iter"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
)

// selector is what of a policy decides whether it applies.
func selector(p *permission.Policy, opts permission.Options) scope.Selector {
	return scope.Selector{Resource: &p.Resource, Target: &p.Target, Role: p.Role(opts)}
}

// Nearest returns the inbound that the policy comes nearest to, and the first requirement that the inbound does not meet.
func Nearest(p *permission.Policy, inbounds []policy.Inbound, opts permission.Options) (nearest policy.Inbound, reason string) {
	return capability.Nearest(inbounds, func(in policy.Inbound) iter.Seq[capability.Miss] { return selector(p, opts).Misses(&in) })
}
