package lab

// makeConditioned makes an inbound for each two targets that decide about requests, with one that says what is known of
// them, if the three can select one together and one of them has changed.
func (p *populator) makeConditioned() {
	var deciding, conditions []*target
	for _, t := range p.all {
		if t.Conditions {
			conditions = append(conditions, t)
		} else {
			deciding = append(deciding, t)
		}
	}
	for _, c := range conditions {
		for i, a := range deciding {
			for _, b := range deciding[i+1:] {
				if !a.changed && !b.changed && !c.changed {
					continue
				}
				if p.tried++; p.exhausted() {
					return
				}
				p.makeTriple(a, b, c)
			}
		}
	}
}

// makeTriple makes an inbound that all three targets select. Where the third one selects that of the other two as it
// is, that one is asked.
func (p *populator) makeTriple(a, b, c *target) {
	in, ok := p.fitBoth(a, b)
	if !ok || c.Miss(in) == "" {
		return
	}
	if in = c.Fit(in); a.Miss(in) != "" || b.Miss(in) != "" || c.Miss(in) != "" {
		return
	}
	if key, _ := p.selection(in); !p.selections[key] {
		p.selections[key] = true
		p.make(in, a, b, c)
	}
}
