package resource

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

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

// LabelRoleField is the path of the label with the role.
func (r Resource) LabelRoleField() string { return r.labelField(LabelRole) }

// OverwrittenRole says that a control plane writes another role over the one that a policy states, "" where
// it does not. A control plane computes the role of each policy that is made in its own zone; a copy of
// another one keeps what it has. The role is the one that the caller has for a policy of a namespace.
func (r Resource) OverwrittenRole(systemNamespace, ofNamespace string) string {
	_, ofZone := r.Labels[LabelZone]
	isCopy := r.Universal && (ofZone || r.ID.Namespace != "") || !r.Universal && r.Namespace != r.ID.Namespace
	unlabelled := r
	unlabelled.Labels = nil
	stated, computed := r.Labels[LabelRole], unlabelled.Role(systemNamespace, ofNamespace)
	if stated == "" || stated == computed || isCopy {
		return ""
	}
	return fmt.Sprintf("the label %s states the role %s, and a control plane writes %s over it: take the label out", LabelRole, stated, computed)
}

// Label returns a label of the resource. Where the resource lacks the label, it is the value
// that a control plane would compute. In universal form none up to Kuma 2.14 computes the display name.
func (r Resource) Label(key string) string {
	if value, ok := r.Labels[key]; ok {
		return value
	}
	switch key {
	case LabelDisplayName:
		if r.Universal {
			return ""
		}
		return r.ID.Name
	case LabelMesh:
		return r.ID.Mesh
	case LabelZone:
		return r.ID.Zone
	case LabelNamespace:
		return r.ID.Namespace
	}
	return ""
}

// CheckSelector refuses labels of which one has an empty value, where resources are told by them. Kuma then takes
// those that have the label without a value, and none that lacks it.
func CheckSelector(doc manifest.Document, field string, labels map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] == "" {
			return doc.Errorf(fmt.Sprintf("%s[%q]", field, key), "the value is empty, and what lacks the label is not selected by it: write a value")
		}
	}
	return nil
}

// IsComputed reports whether a control plane may compute a label that nobody states: every label whose domain is
// Kuma's. The display name and the namespace are known without it.
func IsComputed(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	return (domain == "kuma.io" || strings.HasSuffix(domain, ".kuma.io")) && key != LabelDisplayName && key != LabelNamespace
}

// RoleWith is [Resource.Role] for a policy with a list to. Own says of each item whether it
// means resources of the policy's own namespace alone. A policy of such items is its
// producer's, and applies to the callers of all namespaces; any other is a consumer's. A policy
// with items of both kinds is refused, as every control plane does.
func (r Resource) RoleWith(systemNamespace string, own []bool) (string, error) {
	computed := roleOf(own)
	role := r.Role(systemNamespace, computed)
	if mixed := slices.Contains(own, true) && slices.Contains(own, false); mixed && role == computed && r.Labels[LabelRole] == "" {
		return "", r.Doc.Errorf("spec.to", "a target of the policy's own namespace and one of another namespace must not stand in one policy, which would be a producer's and a consumer's: write two policies")
	}
	return role, nil
}

// roleOf is the role of a policy of a namespace by what each of its items means.
func roleOf(own []bool) string {
	if len(own) > 0 && own[0] {
		return RoleProducer
	}
	return RoleConsumer
}

// OverwrittenRoleWith is [Resource.OverwrittenRole] for a policy with a list to, see [Resource.RoleWith].
func (r Resource) OverwrittenRoleWith(systemNamespace string, own []bool) string {
	return r.OverwrittenRole(systemNamespace, roleOf(own))
}
