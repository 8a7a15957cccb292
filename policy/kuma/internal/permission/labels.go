package permission

import (
	"slices"
	"strings"
)

// The labels that decide about selection and order. A control plane computes them on
// admission. A policy in a file may lack them.
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

// The policy roles, the weakest first.
const (
	RoleSystem   = "system"
	RoleProducer = "producer"
	RoleConsumer = "consumer"
	RoleOwner    = "workload-owner"
)

var Roles = []string{RoleSystem, RoleProducer, RoleConsumer, RoleOwner}

// checkLabels refuses an unknown value of a label that decides about selection or
// order. Without the error, a misspelt role could let a policy select more inbounds.
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
