package evaluation

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// byAction judges by Option 3: the heaviest action that has a condition for the request
// decides. In the shadow an allowWithShadowDeny denies.
func (e evaluation) byAction(in policy.Inbound) policy.Decision {
	d := policy.Decision{Layer: in.Protocol.Layer(), Shadowed: e.shadows()}
	effect, shadow, origin := policy.Deny, policy.Deny, "default"
	switch {
	case e.first(permission.Deny) != "":
		origin = "Deny"
	case e.first(permission.AllowWithShadowDeny) != "":
		effect, origin = policy.Allow, "AllowWithShadowDeny"
	case e.first(permission.Allow) != "":
		effect, shadow, origin = policy.Allow, policy.Allow, "Allow"
	}
	d.Verdict = policy.Verdict{Effect: effect, Origin: origin}
	if d.Shadowed {
		d.Shadow = policy.Verdict{Effect: shadow, Origin: origin}
	}
	return d
}
