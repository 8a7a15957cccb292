package permission

import (
	"slices"
	"strings"
)

// The labels that decide about selection and order. A control plane computes
// them on admission; a policy at rest may carry them or not.
const (
	LabelMesh        = "kuma.io/mesh"
	LabelZone        = "kuma.io/zone"
	LabelOrigin      = "kuma.io/origin"
	LabelDisplayName = "kuma.io/display-name"
	LabelRole        = "kuma.io/policy-role"
	LabelEffect      = "kuma.io/effect"
	LabelNamespace   = "k8s.kuma.io/namespace"
)

const (
	DefaultMesh      = "default"
	DefaultNamespace = "default"
	OriginGlobal     = "global"
	OriginZone       = "zone"
	EffectShadow     = "shadow"
)

// The policy roles, by rising weight.
const (
	RoleSystem   = "system"
	RoleProducer = "producer"
	RoleConsumer = "consumer"
	RoleOwner    = "workload-owner"
)

var Roles = []string{RoleSystem, RoleProducer, RoleConsumer, RoleOwner}

// checkLabels refuses a value that selection or order would not understand: a
// misspelt role must not quietly widen a policy.
func (p Policy) checkLabels() error {
	for _, known := range []struct {
		label  string
		values []string
	}{
		{LabelRole, Roles}, {LabelOrigin, []string{OriginGlobal, OriginZone}}, {LabelEffect, []string{EffectShadow}},
	} {
		if value, ok := p.Labels[known.label]; ok && !slices.Contains(known.values, value) {
			return p.Doc.Errorf(p.labelField(known.label), "%q is unknown: use %s", value, strings.Join(known.values, ", "))
		}
	}
	return nil
}
