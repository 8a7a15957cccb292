package lab

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
)

// populator collects the inbounds.
type populator struct {
	Population
	template policy.Inbound
	// all are the distinct targets of all sets. sole are the sole ones of each set.
	all  []*target
	sole [][]*target
	// seen has the index of each inbound in Made, by all but its workload's made name.
	seen map[string]int
	// selections has what selects each inbound that was made of others.
	selections map[string]bool
	named      map[string]bool
	// gone are the described workloads that one of two sets lacks: who compares the sets looks for their new names.
	gone  []policy.Workload
	tried int
}

// addAll adds targets to those of all sets. A target that another set has too has changed if
// it has changed in one of them.
func (p *populator) addAll(targets []*target) {
	known := map[string]*target{}
	for _, t := range p.all {
		known[t.Key] = t
	}
	for _, t := range targets {
		if same := known[t.Key]; same != nil {
			same.changed, same.Conditions = same.changed || t.changed, same.Conditions || t.Conditions
			continue
		}
		p.all = append(p.all, t)
	}
}

// ask takes the inbound for one that is asked anyway. So is an inbound of another name if the
// same targets select it.
func (p *populator) ask(like policy.Inbound) {
	unnamed := like
	unnamed.Workload.Name = madeName
	key, _ := p.selection(like)
	p.selections[key] = true
	p.seen[keyOf(like)] = described
	if other, _ := p.selection(unnamed); other == key {
		p.seen[keyOf(unnamed)] = described
	}
}

// askDescribed takes a described inbound for one that is asked, if the same targets select it in each set. An inbound
// whose labels change does not show what happens to others that have its labels.
func (p *populator) askDescribed(in policy.Inbound, sets []PolicySet) {
	key, _ := p.selection(in)
	stays := true
	for _, s := range sets {
		isWorkload := func(other policy.Inbound) bool { return dataplane.IsOneWorkload(in.Workload, other.Workload) }
		if !slices.ContainsFunc(s.Described, isWorkload) {
			p.gone = append(p.gone, in.Workload)
		}
		stays = stays && slices.ContainsFunc(s.Described, func(other policy.Inbound) bool {
			if !isWorkload(other) || other.Section() != in.Section() {
				return false
			}
			is, _ := p.selection(other)
			return is == key
		})
	}
	if stays {
		p.ask(in)
	}
}

// isGone reports whether a workload is a described one that is gone. A Dataplane outside of Kubernetes has no namespace.
func (p *populator) isGone(w policy.Workload) bool {
	return slices.ContainsFunc(p.gone, func(gone policy.Workload) bool {
		return gone.Name == w.Name && gone.Mesh == w.Mesh && (gone.Namespace == "" || gone.Namespace == w.Namespace)
	})
}

// selection returns the targets that select an inbound, and a text that is the same for
// inbounds that are selected alike.
func (p *populator) selection(in policy.Inbound) (key string, selecting []*target) {
	var b strings.Builder
	fmt.Fprint(&b, in.Protocol.Layer())
	for i, t := range p.all {
		if t.Selects(in) {
			fmt.Fprint(&b, " ", i)
			selecting = append(selecting, t)
		}
	}
	p.tried += len(p.all)
	return b.String(), selecting
}

// exhausted reports whether a bound is reached.
func (p *populator) exhausted() bool {
	if p.tried > mostTried || len(p.Made) >= mostMade {
		p.Truncated = true
	}
	return p.Truncated
}

// madeName stands for the name of a workload until its inbound is known to be new.
const madeName = "made"

// findChanged marks the inbounds that a changed target selects.
func (p *populator) findChanged() {
	for _, t := range p.all {
		if !t.changed {
			continue
		}
		for i := range p.Made {
			m := &p.Made[i]
			m.Changed = m.Changed || t.Selects(m.Inbound)
		}
	}
}

// makePairs makes an inbound for each wanted pair of targets that can select one together.
func (p *populator) makePairs(olds, recents []*target, wanted func(a, b *target) bool) {
	for _, a := range olds {
		for _, b := range recents {
			if !wanted(a, b) {
				continue
			}
			if p.tried++; p.exhausted() {
				return
			}
			in, ok := p.fitBoth(a, b)
			if !ok {
				continue
			}
			if key, _ := p.selection(in); !p.selections[key] || !a.described || !b.described {
				p.make(in, a, b)
			}
			if a.changed || b.changed {
				p.makeVariants(in, a, b)
			}
		}
	}
}

// fitBoth returns an inbound that both targets select.
func (p *populator) fitBoth(a, b *target) (policy.Inbound, bool) {
	if in := b.Fit(a.least); a.Selects(in) && b.Selects(in) {
		return in, true
	}
	if a.Vary == nil || b.Vary == nil {
		return policy.Inbound{}, false
	}
	for _, in := range p.combine(a.least, []*target{a}, []*target{a, b}) {
		if in = b.Fit(in); a.Selects(in) && b.Selects(in) {
			return in, true
		}
	}
	return policy.Inbound{}, false
}

// combine returns the inbound and all that the varying targets make of it, and of each other,
// as long as the selecting targets select them.
func (p *populator) combine(in policy.Inbound, selecting, varying []*target) []policy.Inbound {
	out := []policy.Inbound{in}
	known := map[string]bool{keyOf(in): true}
	var each []func(policy.Inbound) []policy.Inbound
	bases := map[string]bool{}
	for _, t := range varying {
		vary := t.Vary
		if bases[t.Base] {
			vary = t.VaryPort // the first target of the policy has changed the rest
		}
		bases[t.Base] = t.Base != ""
		if vary != nil {
			each = append(each, vary)
		}
	}
	for i := 0; i < len(out); i++ {
		for _, vary := range each {
			for _, varied := range vary(out[i]) {
				if len(out) == mostStates {
					p.Truncated = true
				}
				if p.tried++; p.exhausted() {
					return out
				}
				key := keyOf(varied)
				if known[key] {
					continue
				}
				known[key] = true
				if !slices.ContainsFunc(selecting, func(t *target) bool { return !t.Selects(varied) }) {
					out = append(out, varied)
				}
			}
		}
	}
	return out
}

// makeVariants makes the inbound of some targets once more for each other set of targets that
// can select it beside them.
func (p *populator) makeVariants(of policy.Inbound, targets ...*target) {
	all := p.combine(of, targets, p.all)
	isDescribed := !slices.ContainsFunc(targets, func(t *target) bool { return !t.described })
	if len(all) == 1 && !isDescribed {
		return
	}
	for i, in := range all {
		if p.exhausted() {
			return
		}
		key, selecting := p.selection(in)
		if p.selections[key] {
			continue
		}
		// The first one is made, unless the inbounds of its targets are described.
		if p.selections[key] = true; i > 0 || isDescribed {
			p.make(in, selecting...)
		}
	}
}

// makeConnections makes each inbound that was made and changes, and each of the asked ones, once more for
// tcp, if the two sets differ there and one of them decides otherwise about connections than about requests. An
// inbound of tcp is made once more for requests, unless others are selected alike: flags may say tcp of workloads that
// take requests.
func (p *populator) makeConnections(asked []policy.Inbound, sets []PolicySet) {
	all := slices.Clone(p.Made)
	for _, in := range asked {
		all = append(all, Made{Inbound: in, Changed: true})
	}
	for _, of := range all {
		in := of.Inbound
		if !of.Changed {
			continue
		}
		if p.exhausted() {
			return
		}
		in = ofOtherLayer(in)
		if key, _ := p.selection(in); in.Protocol.Layer() == policy.L7 && p.selections[key] {
			continue
		}
		if sets[0].Program(in).Equal(sets[1].Program(in).Program) {
			continue
		}
		// A rule about any request, whatever it is, is not about connections.
		if !slices.ContainsFunc(sets, func(s PolicySet) bool {
			return !withoutLayers(s.Program(of.Inbound).Program).Equal(withoutLayers(s.Program(in).Program))
		}) {
			continue
		}
		if p.named[in.Workload.Name] {
			in.Workload.Name = madeName
		}
		_, selecting := p.selection(in)
		before := len(p.Made)
		p.make(in, selecting...)
		if len(p.Made) > before {
			p.Made[before].Again = true
		}
	}
}

// ofOtherLayer returns an inbound of tcp for one of requests, and one of HTTP for one of tcp.
func ofOtherLayer(in policy.Inbound) policy.Inbound {
	if in.Protocol.Layer() == policy.L7 {
		in.Protocol, in.Routes = policy.TCP, nil
	} else {
		in.Protocol = policy.HTTP
	}
	return in
}

// withoutLayers returns a program whose gates do not say whether they judge requests or connections.
func withoutLayers(program policy.Program) policy.Program {
	blank := func(gates []policy.Gate) []policy.Gate {
		gates = slices.Clone(gates)
		for i := range gates {
			gates[i].Layer = 0
		}
		return gates
	}
	program.Gates, program.Shadows = blank(program.Gates), blank(program.Shadows)
	return program
}

// make adds an inbound, unless it is there already.
func (p *populator) make(in policy.Inbound, targets ...*target) {
	if p.leaveOut(in, targets) || p.isRefused(in) || p.isGone(in.Workload) {
		return
	}
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
		p.Made[i].Changed = p.Made[i].Changed || t.changed
		for _, name := range t.policies {
			if !slices.Contains(p.Made[i].Policies, name) {
				p.Made[i].Policies = append(p.Made[i].Policies, name)
			}
		}
	}
}

// leaveOut reports whether several sole targets of one set select an inbound, so that no file says
// which of them decides. That matters for an inbound that a single target needs, and where the
// targets change: one that is new decides nothing beside those that were there, and one that selected
// other inbounds may be older than they are.
func (p *populator) leaveOut(in policy.Inbound, targets []*target) bool {
	var names [][]string
	var several []string
	for _, sole := range p.sole {
		var selecting []string
		for _, t := range sole {
			if t.Selects(in) {
				selecting = append(selecting, t.Policy)
			}
		}
		if names = append(names, selecting); len(selecting) > 1 {
			several = selecting
		}
	}
	if several == nil {
		return false
	}
	was, is := names[0], names[len(names)-1]
	goes := func(name string) bool { return !slices.Contains(is, name) }
	comes := func(name string) bool {
		return len(was) > 0 && !slices.Contains(was, name) && slices.ContainsFunc(p.sole[0], func(t *target) bool { return t.Policy == name })
	}
	if len(targets) == 1 || slices.ContainsFunc(was, goes) || slices.ContainsFunc(is, comes) {
		u := Unasked{Policy: several[0], Place: targets[0].Place, Reason: fmt.Sprintf("a workload may be selected by %s, and no file says which of them decides", strings.Join(several, " and "))}
		if !slices.ContainsFunc(p.Unasked, func(other Unasked) bool { return other.Policy == u.Policy && other.Reason == u.Reason }) {
			p.Unasked = append(p.Unasked, u)
		}
	}
	return true
}

// isRefused reports whether a target refuses an inbound that a target of another set needs. It is told, and no error: no file has the
// inbound, so that nobody can change it.
func (p *populator) isRefused(in policy.Inbound) bool {
	for _, t := range p.all {
		if t.Refuses == nil || !t.Selects(in) {
			continue
		}
		if reason := t.Refuses(in); reason != "" {
			if u := (Unasked{Policy: t.Policy, Place: t.Place, Reason: reason}); !slices.Contains(p.Unasked, u) {
				p.Unasked = append(p.Unasked, u)
			}
			return true
		}
	}
	return false
}

// described stands for the index of an inbound that was not made.
const described = -1

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
