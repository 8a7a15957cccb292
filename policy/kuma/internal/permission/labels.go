package permission

import (
	"slices"
	"strings"
)

// The labels that decide about selection and order. A control plane computes
// them on admission; a policy at rest may carry them or not.
const (
	labelMesh        = "kuma.io/mesh"
	labelZone        = "kuma.io/zone"
	labelOrigin      = "kuma.io/origin"
	labelDisplayName = "kuma.io/display-name"
	labelRole        = "kuma.io/policy-role"
	labelEffect      = "kuma.io/effect"
	labelNamespace   = "k8s.kuma.io/namespace"
)

const (
	defaultMesh      = "default"
	defaultNamespace = "default"
	originGlobal     = "global"
	originZone       = "zone"
	effectShadow     = "shadow"
)

// The policy roles, by rising weight.
const (
	roleSystem   = "system"
	roleProducer = "producer"
	roleConsumer = "consumer"
	roleOwner    = "workload-owner"
)

var roles = []string{roleSystem, roleProducer, roleConsumer, roleOwner}

// checkLabels refuses a value that selection or order would not understand: a
// misspelt role must not quietly widen a policy.
func (p Policy) checkLabels() error {
	for _, known := range []struct {
		label  string
		values []string
	}{
		{labelRole, roles}, {labelOrigin, []string{originGlobal, originZone}}, {labelEffect, []string{effectShadow}},
	} {
		if value, ok := p.labels[known.label]; ok && !slices.Contains(known.values, value) {
			return p.doc.Errorf(p.labelField(known.label), "%q is unknown: use %s", value, strings.Join(known.values, ", "))
		}
	}
	return nil
}

// role is the label's value or what admission would compute: a policy of the
// system namespace or of a universal control plane is the operator's, any other
// that of the owner of the namespace.
func (p Policy) role(opts Options) string {
	if role := p.labels[labelRole]; role != "" {
		return role
	}
	// A label alone makes no operator of the owner of another namespace.
	system := opts.systemNamespace()
	if p.universal || p.id.Namespace == system && p.namespace == system {
		return roleSystem
	}
	return roleOwner
}
