package resource

import "cmp"

// The labels that decide about selection and order. A control plane computes them on
// admission. A resource in a file may lack them.
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

// Roles are the policy roles, the weakest first.
var Roles = []string{RoleSystem, RoleProducer, RoleConsumer, RoleOwner}

// Role returns the role in the label of a policy, or the role that a control plane would
// compute: system for a policy of the system namespace or in universal form, else the role
// that the caller has for a policy of a namespace.
func (r Resource) Role(systemNamespace, ofNamespace string) string {
	// The label of a namespace alone does not make a policy one of the system.
	if r.Universal || r.ID.Namespace == systemNamespace && r.Namespace == systemNamespace {
		ofNamespace = RoleSystem
	}
	return cmp.Or(r.Labels[LabelRole], ofNamespace)
}
