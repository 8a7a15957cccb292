package permission

// features are what a set of policies has that the options treat differently.
type features struct {
	conditions, shadowed, everybody bool
	policies                        int
}

func (f *features) add(p *Policy) {
	f.policies++
	for _, r := range p.rules {
		f.conditions = f.conditions || r.form == conditions
		f.shadowed = f.shadowed || len(r.lists[allowWithShadowDeny]) > 0
		f.everybody = f.everybody || meetsEverybody(r.lists[deny])
	}
}

// notes say what the options differ in by design.
func (f *features) notes(to Option) []string {
	if f.policies == 0 {
		return nil
	}
	out := []string{to.Attribution()}
	if f.shadowed && to == Option3 {
		out = append(out, "the shadow allows what is plainly allowed; in the other options it does so with shadowForm precise only")
	}
	if f.shadowed && f.conditions && to != Option3 {
		out = append(out, "the shadow denies what is plainly allowed, unless shadowForm is precise; in option3 it allows that")
	}
	if f.everybody && to != Option3 {
		out = append(out, "a deny for every request is written as a deny of the path /, which every path is under")
	}
	return out
}
