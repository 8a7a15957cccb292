package selection

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/internal/spelling"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// miss is a requirement of a policy that an inbound does not meet.
type miss struct {
	reason string
	// want and got are what is compared; both are empty where nothing is.
	want, got string
}

// missReason says why the policy does not apply to the inbound, "" where it does.
func missReason(p *permission.Policy, in *policy.Inbound, opts permission.Options) (reason string) {
	eachMiss(p, in, opts, func(m miss) bool {
		reason = m.reason
		return false
	})
	return reason
}

// Nearest returns the inbound that the policy comes nearest to, and the first requirement
// that the inbound does not meet. It misses the fewest requirements; of several, what it has
// is closest to what the policy asks for.
func Nearest(p *permission.Policy, inbounds []policy.Inbound, opts permission.Options) (nearest policy.Inbound, reason string) {
	var least [2]int
	for i := range inbounds {
		var own [2]int
		first := ""
		eachMiss(p, &inbounds[i], opts, func(m miss) bool {
			own[0]++
			own[1] += spelling.Distance(m.want, m.got)
			first = cmp.Or(first, m.reason)
			return true
		})
		if i == 0 || slices.Compare(own[:], least[:]) < 0 {
			nearest, reason, least = inbounds[i], first, own
		}
	}
	return nearest, reason
}

// eachMiss calls yield for each requirement that the inbound does not meet, in the order in
// which they are checked, until yield returns false.
func eachMiss(p *permission.Policy, in *policy.Inbound, opts permission.Options, yield func(miss) bool) {
	w := &in.Workload
	mesh, namespace := cmp.Or(w.Mesh, permission.DefaultMesh), cmp.Or(w.Namespace, permission.DefaultNamespace)
	role := Role(*p, opts)
	if p.Labels[permission.LabelEffect] == permission.EffectShadow && !yield(miss{reason: "the label kuma.io/effect makes it a shadow policy"}) {
		return
	}
	if want := p.ID.Mesh; want != mesh && !yield(miss{fmt.Sprintf("it is of mesh %q, the workload of mesh %q", want, mesh), want, mesh}) {
		return
	}
	if role != permission.RoleProducer && w.Origin == permission.OriginZone && p.Labels[permission.LabelOrigin] == permission.OriginZone && p.ID.Zone != w.Zone &&
		!yield(miss{fmt.Sprintf("it is of zone %q, the workload of zone %q", p.ID.Zone, w.Zone), p.ID.Zone, w.Zone}) {
		return
	}
	if want := p.ID.Namespace; (role == permission.RoleConsumer || role == permission.RoleOwner) && want != namespace &&
		!yield(miss{fmt.Sprintf("it is of namespace %q, the workload of namespace %q", want, namespace), want, namespace}) {
		return
	}
	if p.Target.Kind > permission.Dataplane {
		eachLegacyMiss(&p.Target, in, yield)
	} else {
		eachTargetMiss(&p.Target, in, yield)
	}
}

// eachTargetMiss is [eachMiss] for the targetRef.
func eachTargetMiss(t *permission.Target, in *policy.Inbound, yield func(miss) bool) {
	if got := in.Workload.Name; t.Name != "" && t.Name != got && !yield(miss{fmt.Sprintf("targetRef.name is %q", t.Name), t.Name, got}) {
		return
	}
	for _, want := range t.Labels {
		if got := workloadLabel(&in.Workload, want.Key); got != want.Value &&
			!yield(miss{fmt.Sprintf("targetRef.labels asks for %s=%q, the workload has %s", want.Key, want.Value, orNone(got)), want.Value, got}) {
			return
		}
	}
	if t.Section != "" && t.Section != in.Section() {
		yield(miss{fmt.Sprintf("targetRef.sectionName is %q, the inbound's is %q", t.Section, in.Section()), t.Section, in.Section()})
	}
}

// orNone quotes the value of a label or a tag.
func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return strconv.Quote(value)
}

// eachLegacyMiss is [eachMiss] for a targetRef of the legacy kinds.
func eachLegacyMiss(t *permission.Target, in *policy.Inbound, yield func(miss) bool) {
	if t.Kind == permission.Route {
		if in.Protocol.Layer() == policy.L4 {
			yield(miss{reason: fmt.Sprintf("targetRef names the route %q, but a tcp inbound has no routes", t.Name)})
		} else if !slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == t.Name }) {
			yield(miss{reason: fmt.Sprintf("targetRef names the route %q, which the inbound does not have", t.Name)})
		}
		return
	}
	for _, want := range t.Labels {
		if got, owner := inboundTag(in, want.Key); got != want.Value &&
			!yield(miss{fmt.Sprintf("targetRef asks for %s=%q, the %s has %s", want.Key, want.Value, owner, orNone(got)), want.Value, got}) {
			return
		}
	}
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
