// Package selection finds the MeshTrafficPermissions that apply to one inbound, and
// their order.
//
// It guarantees that the result does not depend on the order of the policies, and
// that each policy that does not apply has its reason. It reads no rule: what a
// policy says of a request is no concern of it.
package selection

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// Selection is what applies to one inbound, and what does not.
type Selection struct {
	// Policies are in the order of concatenation, the weakest first.
	Policies []permission.Policy
	Ignored  []Ignored
}

// Ignored is a policy that does not apply, with the reason.
type Ignored struct {
	Policy permission.Policy
	Reason string
}

// Select returns the policies that apply to the inbound. Ignored keeps the order of
// ps; nothing else of the result depends on it.
func Select(ps []permission.Policy, in policy.Inbound, opts permission.Options) Selection {
	reasons := make([]string, len(ps))
	ranks := make([]rank, 0, len(ps))
	for i := range ps {
		if reasons[i] = missReason(&ps[i], &in, opts); reasons[i] == "" {
			ranks = append(ranks, rankOf(&ps[i], opts))
		}
	}
	ranks = withoutFrom(ranks, ps, reasons)
	slices.SortStableFunc(ranks, rank.compare)
	sel := Selection{Policies: make([]permission.Policy, len(ranks)), Ignored: make([]Ignored, 0, len(ps)-len(ranks))}
	for i, r := range ranks {
		sel.Policies[i] = *r.policy
	}
	for i, reason := range reasons {
		if reason != "" {
			sel.Ignored = append(sel.Ignored, Ignored{Policy: ps[i], Reason: reason})
		}
	}
	return sel
}

// missReason says why the policy does not apply to the inbound, "" where it does.
func missReason(p *permission.Policy, in *policy.Inbound, opts permission.Options) string {
	w := &in.Workload
	mesh, namespace := cmp.Or(w.Mesh, permission.DefaultMesh), cmp.Or(w.Namespace, permission.DefaultNamespace)
	role := Role(*p, opts)
	switch {
	case p.Labels[permission.LabelEffect] == permission.EffectShadow:
		return "the label kuma.io/effect makes it a shadow policy"
	case p.ID.Mesh != mesh:
		return fmt.Sprintf("it is of mesh %q, the workload of mesh %q", p.ID.Mesh, mesh)
	case role != permission.RoleProducer && w.Origin == permission.OriginZone && p.Labels[permission.LabelOrigin] == permission.OriginZone && p.ID.Zone != w.Zone:
		return fmt.Sprintf("it is of zone %q, the workload of zone %q", p.ID.Zone, w.Zone)
	case (role == permission.RoleConsumer || role == permission.RoleOwner) && p.ID.Namespace != namespace:
		return fmt.Sprintf("it is of namespace %q, the workload of namespace %q", p.ID.Namespace, namespace)
	}
	return targetMissReason(&p.Target, in)
}

// rank orders the policies that apply: first by the numbers, the heavier policy
// has the greater number, then by name.
type rank struct {
	policy *permission.Policy
	weight [4]uint8
}

func rankOf(p *permission.Policy, opts permission.Options) rank {
	r := rank{policy: p}
	r.weight[0] = uint8(p.Target.Kind)
	if p.Target.Section != "" {
		r.weight[1] = 1
	}
	switch p.Labels[permission.LabelOrigin] {
	case permission.OriginGlobal:
	case permission.OriginZone:
		r.weight[2] = 2
	default:
		r.weight[2] = 1
	}
	r.weight[3] = uint8(slices.Index(permission.Roles, Role(*p, opts)))
	return r
}

// compare orders the weakest first. Of two policies of one weight, the one whose
// display name sorts first is stronger. The identifier decides where the names are
// equal too.
func (r rank) compare(s rank) int {
	if c := bytes.Compare(r.weight[:], s.weight[:]); c != 0 {
		return c
	}
	if c := strings.Compare(s.policy.ID.Name, r.policy.ID.Name); c != 0 {
		return c
	}
	return strings.Compare(r.policy.Origin, s.policy.Origin)
}

// Role returns the role in the policy's label, or the role that a control plane
// would compute: system for a policy of the system namespace or in universal form,
// else workload-owner.
func Role(p permission.Policy, opts permission.Options) string {
	if role := p.Labels[permission.LabelRole]; role != "" {
		return role
	}
	// The label of a namespace alone does not make a policy one of the system.
	system := opts.ControlPlaneNamespace()
	if p.Universal || p.ID.Namespace == system && p.Namespace == system {
		return permission.RoleSystem
	}
	return permission.RoleOwner
}

// hasMatcher reports whether a rule of the policy has a matcher.
func hasMatcher(p *permission.Policy) bool {
	return slices.ContainsFunc(p.Rules, func(r permission.Rule) bool {
		return len(r.Lists[permission.Deny])+len(r.Lists[permission.AllowWithShadowDeny])+len(r.Lists[permission.Allow]) > 0
	})
}

// withoutFrom drops the legacy policies where a policy with rules applies, for a
// filter takes one form. It writes the reason of each dropped policy into reasons.
func withoutFrom(ranks []rank, ps []permission.Policy, reasons []string) []rank {
	i := slices.IndexFunc(ranks, func(r rank) bool { return hasMatcher(r.policy) })
	if i < 0 {
		return ranks
	}
	reason := fmt.Sprintf("its from has no effect beside the rules of %s: an inbound is governed by rules or by from", ranks[i].policy)
	for k := range ps {
		if reasons[k] == "" && ps[k].IsFrom() {
			reasons[k] = reason
		}
	}
	return slices.DeleteFunc(ranks, func(r rank) bool { return r.policy.IsFrom() })
}

// IsFrom reports whether the legacy form governs the inbound.
func (s Selection) IsFrom() bool {
	return slices.ContainsFunc(s.Policies, func(p permission.Policy) bool { return len(p.From) > 0 })
}

// targetMissReason says why the target does not select the inbound, "" where it does.
func targetMissReason(t *permission.Target, in *policy.Inbound) string {
	if t.Kind > permission.Dataplane {
		return legacyMissReason(t, in)
	}
	if t.Name != "" && t.Name != in.Workload.Name {
		return fmt.Sprintf("targetRef.name is %q", t.Name)
	}
	for _, want := range t.Labels {
		if got := workloadLabel(&in.Workload, want.Key); got != want.Value {
			return fmt.Sprintf("targetRef.labels asks for %s=%q, the workload has %q", want.Key, want.Value, got)
		}
	}
	if t.Section != "" && t.Section != in.Section() {
		return fmt.Sprintf("targetRef.sectionName is %q, the inbound's is %q", t.Section, in.Section())
	}
	return ""
}

// workloadLabel returns a label of the workload. Where the workload lacks the label, it
// is the value that a control plane would compute.
func workloadLabel(w *policy.Workload, label string) string {
	if value, ok := w.Labels[label]; ok {
		return value
	}
	switch label {
	case permission.LabelDisplayName:
		return w.Name
	case permission.LabelMesh:
		return cmp.Or(w.Mesh, permission.DefaultMesh)
	case permission.LabelZone:
		return w.Zone
	case permission.LabelOrigin:
		return w.Origin
	case permission.LabelNamespace:
		return w.Namespace
	}
	return ""
}

func legacyMissReason(t *permission.Target, in *policy.Inbound) string {
	if t.Kind == permission.Route {
		if in.Protocol.Layer() == policy.L4 {
			return fmt.Sprintf("targetRef names the route %q, but a tcp inbound has no routes", t.Name)
		}
		if !slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == t.Name }) {
			return fmt.Sprintf("targetRef names the route %q, which the inbound does not have", t.Name)
		}
		return ""
	}
	for _, want := range t.Labels {
		if got, owner := inboundTag(in, want.Key); got != want.Value {
			return fmt.Sprintf("targetRef asks for %s=%q, the %s has %q", want.Key, want.Value, owner, got)
		}
	}
	return ""
}

// inboundTag returns a tag of the inbound, and of its workload where the inbound lacks
// it. The owner is "inbound" or "workload".
func inboundTag(in *policy.Inbound, key string) (value, owner string) {
	if value, ok := in.Tags[key]; ok {
		return value, "inbound"
	}
	return workloadTag(&in.Workload, key), "workload"
}

// workloadTag returns a tag of the workload. The default of the service is the name of
// the workload.
func workloadTag(w *policy.Workload, key string) string {
	if key == permission.TagService && w.Labels[key] == "" {
		return w.Name
	}
	return workloadLabel(w, key)
}
