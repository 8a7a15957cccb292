package scope

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// AsTarget returns what the policy selects, of the policy that the selector is of.
func (s Selector) AsTarget() capability.Target {
	r := s.Resource
	return capability.Target{
		Policy: r.Origin, Name: r.ID.Name, Place: r.Place(),
		Key:      fmt.Sprintf("%t %q %q %q %q %q %q %q", r.Universal, r.Labels[resource.LabelEffect], r.ID.Mesh, r.ID.Zone, r.ID.Namespace, r.Labels[resource.LabelOrigin], s.Role, *s.Target),
		Inert:    r.Labels[resource.LabelEffect] == resource.EffectShadow,
		Miss:     func(in policy.Inbound) capability.Reason { return s.Miss(&in) },
		Fit:      s.fit,
		Vary:     s.vary,
		Unstated: func(in policy.Inbound) string { return s.Unstated(&in) },
	}
}

// vary returns the inbound with another value of each thing that the policy asks for and that
// every inbound has. A zone counts for the workloads of a zone only.
func (s Selector) vary(in policy.Inbound) (out []policy.Inbound) {
	p, role := s.Resource, s.Role
	if in.Workload.Namespace == p.ID.Namespace && (role == resource.RoleConsumer || role == resource.RoleOwner) {
		out = append(out, withLabel(in, target.Label{Key: resource.LabelNamespace, Value: p.ID.Namespace + otherSuffix}))
	}
	if s.names() && p.ID.Zone != "" {
		// One that states no zone is of the policy's own, and has no label of it.
		for _, zone := range []string{"", p.ID.Zone + otherSuffix} {
			out = append(out, withLabel(in, target.Label{Key: resource.LabelZone, Value: zone}))
		}
	}
	if role != resource.RoleProducer && p.Labels[resource.LabelOrigin] == resource.OriginZone {
		for _, zone := range []string{p.ID.Zone, p.ID.Zone + otherSuffix} {
			ofZone := withLabel(in, target.Label{Key: resource.LabelOrigin, Value: resource.OriginZone})
			out = append(out, withLabel(ofZone, target.Label{Key: resource.LabelZone, Value: zone}))
		}
	}
	t := s.Target
	asked := t.Labels
	if t.Kind == target.Dataplane && t.Name != "" {
		asked = append(slices.Clone(asked), target.Label{Key: resource.LabelDisplayName, Value: t.Name})
	}
	for _, label := range asked {
		if label.Key == resource.LabelZone {
			// The workloads of a zone are of that zone for policies of zones too.
			ofZone := withLabel(in, target.Label{Key: resource.LabelOrigin, Value: resource.OriginZone})
			out = append(out, withLabel(ofZone, label))
		}
		if label.Key == target.TagService && in.Tags[label.Key] == "" {
			label.Key = resource.LabelDisplayName
		}
		if field := fields(&in.Workload)[label.Key]; field != nil && *field == label.Value {
			out = append(out, withLabel(in, target.Label{Key: label.Key, Value: label.Value + otherSuffix}))
		}
	}
	out = append(out, s.varyTags(in)...)
	if t.Section != "" && t.Section == in.Section() {
		other := in
		other.Name, other.Port = "", in.Port%65535+1
		out = append(out, other)
	}
	return out
}

// varyTags returns the inbound with another value of each tag that a legacy target asks for. A tag of the inbound counts before a label
// of its workload, and before its name: the workload may have the label or the name all the same.
func (s Selector) varyTags(in policy.Inbound) (out []policy.Inbound) {
	if s.Target.Kind <= target.Dataplane {
		return nil
	}
	for _, tag := range s.Target.Labels {
		if value, _ := InboundTag(&in, tag.Key); value != tag.Value {
			continue
		}
		other := in
		other.Tags = map[string]string{tag.Key: tag.Value + otherSuffix}
		for key, value := range in.Tags {
			if key != tag.Key {
				other.Tags[key] = value
			}
		}
		out = append(out, other)
	}
	return out
}

// otherSuffix makes a value another one.
const otherSuffix = "-other"

// withLabel returns the inbound with a label of its workload.
func withLabel(in policy.Inbound, label target.Label) policy.Inbound {
	in.Workload.Labels = maps.Clone(in.Workload.Labels)
	setLabel(&in.Workload, label)
	return in
}

// fit changes an inbound so that the policy applies to it. Where requirements of the policy
// contradict each other, the later one has its way, and the policy still does not apply.
func (s Selector) fit(in policy.Inbound) policy.Inbound {
	p, w := s.Resource, &in.Workload
	w.Mesh = p.ID.Mesh
	if w.Origin == resource.OriginZone && p.Labels[resource.LabelOrigin] == resource.OriginZone {
		w.Zone = p.ID.Zone
	}
	if role := s.Role; role == resource.RoleConsumer || role == resource.RoleOwner || s.ownName() {
		w.Namespace = p.ID.Namespace
	}
	t := s.Target
	if s.names() {
		w.Name, w.Zone = t.Name, cmp.Or(p.ID.Zone, w.Zone)
	}
	if t.Section != "" {
		in.Name = t.Section
		if port, err := strconv.ParseUint(t.Section, 10, 16); err == nil && port > 0 {
			in.Name, in.Port = "", uint16(port)
		}
	}
	switch {
	case t.Kind == target.Route:
		return fitRoute(t.Name, in)
	case t.Kind > target.Dataplane:
		in.Tags = maps.Clone(in.Tags)
		for _, tag := range t.Labels {
			if in.Tags == nil {
				in.Tags = map[string]string{}
			}
			in.Tags[tag.Key] = tag.Value
		}
		return in
	}
	w.Labels = maps.Clone(w.Labels)
	for _, label := range t.Labels {
		setLabel(w, label)
	}
	return in
}

// setLabel gives the workload a label. A label that a control plane computes is a field of
// the workload.
func setLabel(w *policy.Workload, label target.Label) {
	// Without a namespace the display name is a label like others.
	isField := label.Key != resource.LabelDisplayName || w.Namespace != ""
	if field := fields(w)[label.Key]; field != nil && isField {
		*field = label.Value
		return
	}
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	w.Labels[label.Key] = label.Value
}

// fields returns the fields of a workload by the labels that a control plane computes of them.
func fields(w *policy.Workload) map[string]*string {
	return map[string]*string{
		resource.LabelDisplayName: &w.Name, resource.LabelMesh: &w.Mesh, resource.LabelZone: &w.Zone,
		resource.LabelOrigin: &w.Origin, resource.LabelNamespace: &w.Namespace,
	}
}

// plainSegment matches a name that can be a segment of a path.
var plainSegment = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// fitRoute gives the inbound a route of that name. Policies say nothing of its requests:
// they are those under a path of its name.
func fitRoute(name string, in policy.Inbound) policy.Inbound {
	if in.Protocol.Layer() == policy.L4 {
		in.Protocol = policy.HTTP
	}
	if slices.ContainsFunc(in.Routes, func(r policy.InboundRoute) bool { return r.Name == name }) {
		return in
	}
	path := "/route-" + strconv.Itoa(len(in.Routes)+1)
	if plainSegment.MatchString(name) {
		path = "/" + name
	}
	in.Routes = append(slices.Clone(in.Routes), policy.InboundRoute{Name: name, When: attribute.Path.Segments(path)})
	return in
}
