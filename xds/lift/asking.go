package lift

import (
	"strings"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/internal/authorizerfilter"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/refusal"
	"github.com/meshproof/meshproof/policy"
)

// asking adds the gate of a filter whose shadow says what an authorizer is asked about. The
// authorizer answers as that of the lab.
func (t *translator) asking(layer policy.Layer, at *messages.Path, f rbacFilter, a authorizer.Authorizer, gates *[]policy.Gate) {
	t.layer, t.lost.filter = layer, at.String()
	t.check(f, at)
	if f.GetMatcher() != nil || f.GetRules() != nil || f.GetShadowMatcher() != nil {
		t.lost.add(at, "ext_authz stands behind a filter that does more than to say what is asked about")
	}
	if f.GetShadowRules() == nil {
		t.lost.add(at, "ext_authz stands behind a filter whose shadow says nothing by rules")
		return
	}
	made := t.rulesGates(f.GetShadowRules(), false, at.Field("shadow_rules"))
	gate := &made[len(made)-1]
	if gate.Default.Effect != policy.Allow || gate.Logs() {
		t.lost.add(at.Field("shadow_rules"), "ext_authz stands behind rules that do not deny")
		return
	}
	gate.Asks, gate.Refuses = &a, refusal.Refused(a, layer)
	for i := range gate.Rules {
		rule := &gate.Rules[i]
		if !strings.HasPrefix(rule.Origin, authorizerfilter.OriginPrefix(a.Provider)) {
			t.lost.add(at.Field("shadow_rules").Field("policies").Key(rule.Origin), "ext_authz asks by the names of the rules, and not for this one")
		}
		rule.When = policy.And{rule.When, gate.Refuses}
	}
	*gates = append(*gates, made...)
}
