package peerauthentication

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/policylist"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/object"
)

// level is how much a policy is about. A later level overrides an earlier one.
type level uint8

const (
	ofMesh level = iota
	ofNamespace
	ofWorkload
)

// level returns the level of the policy.
func (p Policy) level(rootNamespace string) level {
	switch {
	case len(p.labels()) > 0:
		return ofWorkload
	case p.resource.Metadata.Namespace == rootNamespace:
		return ofMesh
	default:
		return ofNamespace
	}
}

// missReason says why the policy does not apply to the workload, nil where it does. A policy of
// the root namespace with a selector applies to no workload.
func (p Policy) missReason(w policy.Workload, rootNamespace string) capability.Reason {
	switch {
	case p.level(rootNamespace) == ofMesh:
		return nil
	case p.resource.Metadata.Namespace == rootNamespace:
		return capability.ReasonOf(inRoot)
	default:
		return capability.FirstMiss(p.reach(rootNamespace).Misses(w))
	}
}

// reach is which workloads the policy is about.
func (p Policy) reach(rootNamespace string) object.Reach {
	return object.Reach{Namespace: p.resource.Metadata.Namespace, Root: rootNamespace, Labels: p.labels()}
}

const inRoot = "it is of the root namespace and has a selector: Istio takes a selector in the namespace of the workload alone"

// isOlder reports whether Istio takes p before q, of two that are about the same. They are of one namespace.
func (p Policy) isOlder(q Policy) bool {
	if !p.created.Equal(q.created) {
		return p.created.Before(q.created)
	}
	// A name is compared as a whole: "default" comes before "default-open".
	return p.resource.Metadata.Name < q.resource.Metadata.Name
}

// Rival is a policy that has the same target as an older policy. It applies to nothing.
type Rival struct{ Policy, Older Policy }

// Composition is what the policies come to on one workload.
type Composition struct {
	taken [ofWorkload + 1]*Policy
	// Rivals are the policies that an older one displaces.
	Rivals []Rival
	// Ignored has a line for each policy that does not apply.
	Ignored []string
}

// Compose selects the policies of the workload.
func Compose(ps []Policy, w policy.Workload, rootNamespace string) (c Composition) {
	for i := range ps {
		p := &ps[i]
		if reason := p.missReason(w, rootNamespace); reason != nil {
			c.Ignored = append(c.Ignored, policylist.Ignored(p, reason.String()))
			continue
		}
		at := &c.taken[p.level(rootNamespace)]
		if *at == nil {
			*at = p
			continue
		}
		younger := p
		if p.isOlder(**at) {
			*at, younger = p, *at
		}
		c.Rivals = append(c.Rivals, Rival{*younger, **at})
	}
	for i := range c.Rivals {
		// A third one may be older than both.
		r := &c.Rivals[i]
		r.Older = *c.taken[r.Policy.level(rootNamespace)]
		c.Ignored = append(c.Ignored, fmt.Sprintf("%s: %s is older and about the same", r.Policy, r.Older))
	}
	return c
}

// Default is the mode of an inbound that no policy speaks of.
const Default = mtls.Permissive

// Mode returns which callers an inbound of the workload takes on a port.
func (c Composition) Mode(port uint16) mtls.Mode {
	mode, _ := c.modeBy(port)
	return mode
}

// ModeBy returns the policy that states the mode of a port, with its place; "" where none does.
func (c Composition) ModeBy(port uint16) string {
	if _, by := c.modeBy(port); by != nil {
		return by.Place()
	}
	return ""
}

func (c Composition) modeBy(port uint16) (mode mtls.Mode, by *Policy) {
	mode = Default
	for _, p := range c.taken {
		if p == nil {
			continue
		}
		if own := cmp.Or(p.ports[port], p.resource.Spec.MTLS.mode()); own != mtls.Unset {
			mode, by = own, p
		}
	}
	return mode, by
}

// Check refuses an inbound for which the files do not say which of two policies is older,
// where that makes a difference.
func Check(ps []Policy, in policy.Inbound, rootNamespace string) error {
	c := Compose(ps, in.Workload, rootNamespace)
	for _, r := range c.Rivals {
		if !r.Policy.created.IsZero() && !r.Older.created.IsZero() {
			continue
		}
		other := c
		other.taken[r.Policy.level(rootNamespace)] = &r.Policy
		if other.Mode(in.Port) != c.Mode(in.Port) {
			return r.Policy.doc.Errorf("metadata.creationTimestamp", "inbound %s: %s and %s are about the same, and Istio takes the older one: state the time of both, or delete one",
				in, r.Policy, r.Older.Place())
		}
	}
	return nil
}

// Place names the policy, and its "file:line".
func (p Policy) Place() string { return fmt.Sprintf("%s (%s)", p, p.doc.Place("")) }

// Lint warns of policies that apply to nothing, and of ports that no selected workload has.
func Lint(ps []Policy, inbounds []policy.Inbound, rootNamespace string) []policy.Warning {
	var out []policy.Warning
	for _, p := range ps {
		warn := func(kind warning.Kind, field, format string, args ...any) {
			out = append(out, policy.Warning{Kind: kind, Place: p.doc.Place(field), Policy: p.String(), Message: fmt.Sprintf(format, args...)})
		}
		var selected []policy.Inbound
		for _, in := range inbounds {
			if p.missReason(in.Workload, rootNamespace) == nil {
				selected = append(selected, in)
			}
		}
		switch {
		case p.level(rootNamespace) == ofWorkload && p.resource.Metadata.Namespace == rootNamespace:
			warn(warning.SelectorInRootNamespace, "spec.selector", "%s", inRoot)
			continue
		case len(inbounds) > 0 && len(selected) == 0:
			warn(warning.SelectsNothing, "", "the policy selects no workload (%s: %s)", inbounds[0].Workload.Name, p.missReason(inbounds[0].Workload, rootNamespace))
			continue
		}
		for _, port := range slices.Sorted(maps.Keys(p.ports)) {
			if len(selected) > 0 && !slices.ContainsFunc(selected, func(in policy.Inbound) bool { return in.Port == port }) {
				warn(warning.PortOfNoInbound, fmt.Sprintf(`spec.portLevelMtls["%d"]`, port), "no selected workload has an inbound on the port: a port is the workload's, not that of a Service")
			}
		}
		for _, in := range selected {
			rivals := Compose(ps, in.Workload, rootNamespace).Rivals
			if i := slices.IndexFunc(rivals, func(r Rival) bool { return r.Policy.String() == p.String() }); i >= 0 {
				warn(warning.YoungerThanAnother, "", "%s is about the same workloads and older: Istio takes that one for %s, and this one not", rivals[i].Older.Place(), in.Workload.Name)
				break
			}
		}
	}
	return out
}

// Targets returns the workloads that the policies select, in order, on each port that they name.
func Targets(ps []Policy, rootNamespace string) []capability.Target {
	var out []capability.Target
	for _, p := range ps {
		miss := func(in policy.Inbound) capability.Reason { return p.missReason(in.Workload, rootNamespace) }
		t := p.reach(rootNamespace).Target(p.resource.Object, p.doc.Place(""), miss)
		// Istio takes no selector of the root namespace.
		t.Inert = p.level(rootNamespace) == ofWorkload && p.resource.Metadata.Namespace == rootNamespace
		t.Conditions = true
		out = append(out, t.OnPorts(slices.Sorted(maps.Keys(p.ports)))...)
	}
	return out
}
