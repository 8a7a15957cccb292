package lab

import (
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/overlap"
)

// makeOverlaps makes an inbound for each least set of targets that select one where a changed target does, and where two
// do of which one has changed: whatever others select may hide the change. Of what is known of requests, such as the names of
// their callers, each case is made. Where that changes, it is made beside each two others. Where flags choose an inbound, what
// selects it is asked there.
func (p *populator) makeOverlaps(chosen bool) {
	targets := make([]capability.Target, len(p.all))
	for i, t := range p.all {
		targets[i] = t.Target
	}
	space := overlap.New(p.blank(), targets)
	p.tried += space.Tried()
	var conditions []int
	for i, t := range p.all {
		if t.changed && t.Conditions {
			conditions = append(conditions, i)
		}
	}
	for i, a := range p.all {
		if a.changed {
			p.makeLeast(space, chosen, i)
		}
		for j, b := range p.all[:i] {
			if a.changed || b.changed {
				p.makeLeast(space, chosen, j, i)
				continue
			}
			for _, c := range conditions {
				p.makeLeast(space, chosen, c, j, i)
			}
		}
	}
}

// makeLeast makes an inbound for each least set of targets that select one where the given ones do. Where flags choose an
// inbound that all of these select, it is asked.
func (p *populator) makeLeast(space *overlap.Space, chosen bool, given ...int) {
	if chosen && !slices.ContainsFunc(given, func(i int) bool { return !p.all[i].described }) {
		return
	}
	if p.tried++; p.exhausted() {
		return
	}
	targets := make([]*target, len(given))
	for i, index := range given {
		targets[i] = p.all[index]
	}
	found, whole := space.Least(given...)
	p.Truncated = p.Truncated || !whole
	for _, in := range found {
		key, _ := p.selection(in)
		if p.selections[key] {
			continue
		}
		p.selections[key] = true
		p.make(in, targets...)
	}
}
