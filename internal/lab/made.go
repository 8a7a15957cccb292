package lab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Made is an inbound that no file describes. It is made for policies that select no
// described inbound.
type Made struct {
	policy.Inbound
	// Policies names the policies, each with its "file:line".
	Policies []string
	// Changed is true where one of the policies that select the inbound has changed. Elsewhere
	// two sets that are compared have the same program.
	Changed bool
	// Again is true where the inbound was made before and is made again for the other layer: for tcp where it took requests, or for
	// requests where it took tcp. No policy has asked for that, so lint does not warn of what a policy says there.
	Again bool
}

// String says what the inbound is beside its name, and for which policies it was made.
func (m Made) String() string {
	w := m.Workload
	facts := []string{"namespace " + w.Namespace, "mesh " + w.Mesh}
	if w.ServiceAccount != "" {
		facts = append(facts, "service account "+w.ServiceAccount)
	}
	if w.IP.IsValid() {
		facts = append(facts, "address "+w.IP.String())
	}
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
	return fmt.Sprintf("port %d, %s; for %s", m.Port, strings.Join(facts, ", "), strings.Join(m.Policies, ", "))
}

// Unasked is a policy that is asked on no inbound, and why. Most select nothing that can
// exist.
type Unasked struct {
	Policy, Place, Reason string
	// Inert is true where the policy says by itself that it enforces nothing.
	Inert bool
	// OutsideText is the text of what another folder may have and the policy decides about, see [capability.OutsideDocument]; ""
	// where that is not known.
	OutsideText string
	// IsExcluded is true where the whole of the policy is parts that no proof is about, see [capability.Excluder].
	IsExcluded bool
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
	// Chosen is set where flags describe the inbound, and not a Dataplane.
	Chosen  bool
	Changed func(place string) bool
}

// mostMade bounds the inbounds that are made, mostStates the values that are combined for one
// pair of targets, and mostTried the inbounds that are tried in all.
const (
	mostMade   = 4096
	mostStates = 4096
	mostTried  = 1 << 22
)

// Population is the inbounds that are made for sets of policies.
type Population struct {
	Made    []Made
	Callers Callers
	Unasked []Unasked
	// Truncated is true if there are more inbounds to try than the bounds allow.
	Truncated bool
	// Assumed says which inbound flags and their defaults describe, where no file describes one.
	Assumed string
	// Warnings name the Dataplanes whose sidecars take requests that no policy judges.
	Warnings []string
	// LeftOut counts the documents of other kinds, which are not read; "" for none.
	LeftOut string
}

// assumed says which inbound is asked because no file describes one; "" where a file does, or where
// flags choose a workload.
func (s PolicySet) assumed(in policy.Inbound) string {
	if len(s.Described) > 0 || s.Chosen {
		return ""
	}
	return fmt.Sprintf("%s, namespace %s, mesh %s, without labels, stands for the workloads that nothing describes: add Dataplanes, or describe yours by --namespace and --label", in, in.Workload.Namespace, in.Workload.Mesh)
}

// add adds the callers that were made.
func (p *Population) add(c Callers) {
	p.Callers, p.Unasked, p.Truncated = c, append(p.Unasked, c.Unnamed...), p.Truncated || c.Truncated
}

// NotAsked are the texts of the policies that are asked on no inbound, without those that say by
// themselves that they enforce nothing.
func (p Population) NotAsked() []string {
	var out []string
	for _, u := range p.Unasked {
		if !u.Inert {
			out = append(out, u.String())
		}
	}
	return out
}

// Populate makes an inbound for each distinct target of the sets that selects no described
// inbound: an inbound like the given one, without its labels and names, and with what the
// target asks for. Where flags describe a workload of tcp, others take requests. It also makes an inbound for each two targets that can select one
// together: a workload may have the labels of both.
//
// Of two sets that are compared, this is enough to find each request that a change lets in. At
// most two policies cause that: one denies before, another one allows after, and one of the two
// has changed. What others say may hide it. So an inbound is made for each least set of others that
// select one beside the two. Where others say what is known of a request, such as the name of its
// caller, each case is made. Where a target tells values apart, each value, another one and the lack of
// it are combined with those of all other targets, too, as long as the two select the inbound. Of inbounds that the same
// targets select, one is made. Where a set decides otherwise about connections than about requests,
// the inbound is made for both, if the sets differ there.
func Populate(like policy.Inbound, sets ...PolicySet) Population {
	p := populator{template: like, seen: map[string]int{}, selections: map[string]bool{}, named: map[string]bool{}}
	if isChosen := func(s PolicySet) bool { return s.Chosen }; slices.ContainsFunc(sets, isChosen) && like.Protocol.Layer() == policy.L4 {
		p.template.Protocol = policy.HTTP
	}
	targets := make([][]*target, len(sets))
	for i, set := range sets {
		targets[i] = p.targets(set)
		p.addAll(targets[i])
		p.sole = append(p.sole, slices.DeleteFunc(slices.Clone(targets[i]), func(t *target) bool { return !t.Sole }))
	}
	described := slices.ContainsFunc(sets, func(s PolicySet) bool { return len(s.Described) > 0 })
	var asked []policy.Inbound
	if !described {
		p.ask(like)
		asked = append(asked, like)
		p.Assumed = sets[0].assumed(like)
	}
	for _, set := range sets {
		for _, in := range set.Described {
			if slices.ContainsFunc(p.all, func(t *target) bool { return t.changed && t.Selects(in) }) {
				p.askDescribed(in, sets)
				// What a Dataplane, or a flag, says of its own protocol holds. Another one with its labels may say otherwise.
				in.Workload.Name = madeName
				asked = append(asked, in)
			}
		}
	}
	for _, t := range slices.Concat(targets...) {
		if !t.described {
			p.make(t.least, t)
		}
	}
	if len(sets) == 1 {
		for i := range targets[0] {
			// Where both select described inbounds, those are asked.
			p.makePairs(targets[0][i:i+1], targets[0][i+1:], func(a, b *target) bool { return !a.described || !b.described })
		}
	}
	if len(sets) == 2 {
		for _, t := range p.all {
			if t.changed {
				p.makeVariants(t.least, t)
			}
		}
		p.makePairs(targets[0], targets[1], func(a, b *target) bool {
			return a.Key != b.Key && (a.changed || b.changed)
		})
		p.makeOverlaps()
		p.findChanged()
		p.makeConnections(asked, sets)
	}
	return p.Population
}
