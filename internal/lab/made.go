package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Made is an inbound that no file describes. It is made for policies that select no
// described inbound.
type Made struct {
	policy.Inbound
	// For names the policies, each with its "file:line".
	For []string
}

// String says what the inbound is beside its name, and for which policies it was made.
func (m Made) String() string {
	w := m.Workload
	facts := []string{"namespace " + w.Namespace, "mesh " + w.Mesh}
	if w.Zone != "" {
		facts = append(facts, "zone "+w.Zone)
	}
	for _, set := range []struct {
		noun   string
		values map[string]string
	}{{"label", w.Labels}, {"tag", m.Tags}} {
		for _, key := range slices.Sorted(maps.Keys(set.values)) {
			facts = append(facts, fmt.Sprintf("%s %s=%s", set.noun, key, set.values[key]))
		}
	}
	for _, r := range m.Routes {
		facts = append(facts, fmt.Sprintf("route %s when %s", r.Name, r.When))
	}
	return fmt.Sprintf("port %d, %s; for %s", m.Port, strings.Join(facts, ", "), strings.Join(m.For, ", "))
}

// Unasked is a policy that is asked on no inbound, and why. Most select nothing that can
// exist.
type Unasked struct {
	Policy, Place, Reason string
	// Inert is true where the policy says by itself that it enforces nothing.
	Inert bool
}

// String names the policy, and why it is asked nowhere.
func (u Unasked) String() string {
	return fmt.Sprintf("%s: %s: %s", u.Place, u.Policy, u.Reason)
}

// PolicySet is a set of policies outside of cases, with the inbounds that are described for
// it. Changed reports whether the policy at a place is not the same in the set that it is
// compared with; it is nil where nothing is compared.
type PolicySet struct {
	language.Policies
	Described []policy.Inbound
	Changed   func(place string) bool
}

// mostMade bounds the inbounds that are made, and mostPairs the pairs of targets for which
// one is looked for.
const (
	mostMade  = 4096
	mostPairs = 1 << 20
)

// Population is the inbounds that are made for sets of policies.
type Population struct {
	Made    []Made
	Unasked []Unasked
	// Truncated is true if there are more pairs of targets than inbounds are made for.
	Truncated bool
}

// Populate makes an inbound for each distinct target of the sets that selects no described
// inbound: an inbound like the given one, without its labels and names, and with what the
// target asks for.
//
// Of two sets that are compared, it also makes an inbound for each two targets that can
// select one together: a workload may have the labels of both. That is enough to find each
// request that a change decides otherwise. One policy decides it before, another one after,
// and one of them has changed. On the least inbound that these two select, no policy
// applies that does not apply to every inbound of both, so the two decide there too. Where
// a target selects workloads that lack a label, there is an inbound with the label too, and
// where it lists values of a label, each made inbound stands there with each of them.
func Populate(like policy.Inbound, sets ...PolicySet) Population {
	p := populator{like: like, seen: map[string]int{}, named: map[string]bool{}}
	// The inbound itself is asked where none is described.
	for _, name := range []string{madeName, like.Workload.Name} {
		if slices.ContainsFunc(sets, func(s PolicySet) bool { return len(s.Described) > 0 }) {
			break
		}
		asked := like
		asked.Workload.Name = name
		p.seen[keyOf(asked)] = described
	}
	targets := make([][]*target, len(sets))
	for i, set := range sets {
		targets[i] = p.targets(set)
		for _, t := range targets[i] {
			if !t.described {
				p.make(t.least, t)
			}
		}
	}
	if len(sets) == 2 {
		p.makePairs(targets[0], targets[1])
		for _, t := range slices.Concat(targets...) {
			if t.changed && !t.described {
				p.makeAvoiding(t, slices.Concat(targets...))
			}
		}
		p.makeVariants(slices.Concat(targets...))
	}
	return p.Population
}

// target is a distinct target of a set. It is described if it selects a described inbound.
type target struct {
	capability.Target
	changed, described bool
	// least is the least inbound that it selects.
	least policy.Inbound
	// policies are those that have the same target, each with its place.
	policies []string
}

// populator collects the inbounds.
type populator struct {
	Population
	like policy.Inbound
	// seen has the index of each inbound in Made, by all but its workload's made name.
	seen  map[string]int
	named map[string]bool
}

// madeName stands for the name of a workload until its inbound is known to be new.
const madeName = "made"

// targets returns the distinct targets of a set.
func (p *populator) targets(set PolicySet) []*target {
	targeter, ok := set.Policies.(capability.Targeter)
	if !ok {
		p.Unasked = append(p.Unasked, Unasked{Policy: "the set of policies", Reason: "its dialect does not say what a policy selects"})
		return nil
	}
	blank := p.like
	blank.Name, blank.Tags, blank.Routes = "", nil, nil
	blank.Workload.Name, blank.Workload.Labels = madeName, nil
	var out []*target
	known := map[string]*target{}
	for _, t := range targeter.Targets() {
		changed, name := set.Changed != nil && set.Changed(t.Place), fmt.Sprintf("%s (%s)", t.Policy, t.Place)
		if same := known[t.Key]; same != nil {
			same.changed = same.changed || changed
			same.policies = append(same.policies, name)
			continue
		}
		described := slices.ContainsFunc(set.Described, func(in policy.Inbound) bool { return t.Miss(in) == "" })
		least := t.Fit(blank)
		if reason := t.Miss(least); reason != "" && !described {
			if !t.Inert {
				reason = "its requirements contradict each other; on the nearest workload, " + reason
			}
			u := Unasked{t.Policy, t.Place, reason, t.Inert}
			if !slices.Contains(p.Unasked, u) {
				p.Unasked = append(p.Unasked, u)
			}
			continue
		}
		known[t.Key] = &target{t, changed, described, least, []string{name}}
		out = append(out, known[t.Key])
	}
	return out
}

// makePairs makes an inbound for each target of one set together with each of the other,
// where both select it and one of them has changed.
func (p *populator) makePairs(olds, recents []*target) {
	tried := 0
	for _, a := range olds {
		for _, b := range recents {
			// Where both select described inbounds, those are asked.
			if a.Key == b.Key || !a.changed && !b.changed || a.described && b.described {
				continue
			}
			if tried++; tried > mostPairs || len(p.Made) >= mostMade {
				p.Truncated = true
				return
			}
			if in := b.Fit(a.least); a.Miss(in) == "" && b.Miss(in) == "" {
				p.make(in, a, b)
			}
		}
	}
}

// makeAvoiding makes the least inbound of a target once more, with the labels that other
// targets want to be lacking, if the target still selects it.
func (p *populator) makeAvoiding(t *target, all []*target) {
	in := t.least
	for _, other := range all {
		if other.Avoid == nil || other.Miss(in) != "" {
			continue
		}
		if avoided := other.Avoid(in); t.Miss(avoided) == "" {
			in = avoided
		}
	}
	p.make(in, t)
}

// makeVariants makes each inbound once more with each value that a target tells apart, where a
// changed target selects the variant.
func (p *populator) makeVariants(all []*target) {
	tried := 0
	for _, of := range slices.Clone(p.Made) {
		if p.named[of.Workload.Name] {
			of.Workload.Name = madeName
		}
		for _, varying := range all {
			if varying.Vary == nil {
				continue
			}
			for _, in := range varying.Vary(of.Inbound) {
				if tried++; tried > mostPairs || len(p.Made) >= mostMade {
					p.Truncated = true
					return
				}
				var selecting []*target
				changed := false
				for _, t := range all {
					if t.Miss(in) == "" {
						selecting, changed = append(selecting, t), changed || t.changed
					}
				}
				if changed {
					p.make(in, selecting...)
				}
			}
		}
	}
}

// make adds an inbound, unless it is there already.
func (p *populator) make(in policy.Inbound, targets ...*target) {
	key := keyOf(in)
	i, ok := p.seen[key]
	switch {
	case ok && (i == described || len(targets) > 1):
		return
	case !ok:
		i = len(p.Made)
		p.seen[key] = i
		if in.Workload.Name == madeName {
			in.Workload.Name = p.newName(targets)
		}
		p.Made = append(p.Made, Made{Inbound: in})
	}
	for _, t := range targets {
		for _, name := range t.policies {
			if !slices.Contains(p.Made[i].For, name) {
				p.Made[i].For = append(p.Made[i].For, name)
			}
		}
	}
}

// described stands for the index of an inbound that was not made.
const described = -1

// keyOf is the same for inbounds that policies cannot tell apart.
func keyOf(in policy.Inbound) string {
	if len(in.Workload.Labels) == 0 {
		in.Workload.Labels = nil
	}
	return fmt.Sprintf("%q %q %d %d %q %v", in.Workload, in.Name, in.Port, in.Protocol, in.Tags, in.Routes)
}

// newName names a workload after the policies that select it.
func (p *populator) newName(targets []*target) string {
	name := madeName + "-for"
	for _, t := range targets {
		name += "-" + t.Name
	}
	for n, first := 2, name; p.named[name]; n++ {
		name = fmt.Sprintf("%s-%d", first, n)
	}
	p.named[name] = true
	return name
}
