package lab

import (
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/overlap"
)

// makeOverlaps makes an inbound for each least set of targets that select one where a changed target does, and where two
// do of which one has changed: whatever others select may hide the change. Of what is known of requests, such as the names of
// their callers, each case is made. Where that changes, it is made beside each two others.
func (p *populator) makeOverlaps() {
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
			p.makeLeast(space, i)
		}
		for j, b := range p.all[:i] {
			if a.changed || b.changed {
				p.makeLeast(space, j, i)
				continue
			}
			for _, c := range conditions {
				p.makeLeast(space, c, j, i)
			}
		}
	}
}

// makeLeast makes an inbound for each least set of targets that select one where the given ones do.
func (p *populator) makeLeast(space *overlap.Space, given ...int) {
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
