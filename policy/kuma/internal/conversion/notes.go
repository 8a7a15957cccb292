package conversion

import "github.com/meshproof/meshproof/policy/kuma/internal/permission"

// features are the parts of a set of policies in which the options differ.
type features struct {
	conditions, shadowed, everybody bool
	policies                        int
}

func (f *features) add(p *permission.Policy) {
	f.policies++
	for _, r := range p.Rules {
		f.conditions = f.conditions || r.Form == permission.FormConditions
		f.shadowed = f.shadowed || len(r.Lists[permission.AllowWithShadowDeny]) > 0
		f.everybody = f.everybody || meetsEverybody(r.Lists[permission.Deny])
	}
}

// notes says what differs by design in the option.
func (f *features) notes(to permission.Option) []string {
	if f.policies == 0 {
		return nil
	}
	out := []string{to.Attribution()}
	if f.shadowed && to == permission.Option3 {
		out = append(out, "the shadow allows what is plainly allowed; in the other options it does so with shadowForm precise only")
	}
	if f.shadowed && f.conditions && to != permission.Option3 {
		out = append(out, "the shadow denies what is plainly allowed, unless shadowForm is precise; in option3 it allows that")
	}
	if f.everybody && to != permission.Option3 {
		out = append(out, "a deny for every request is written as a deny of the path /, which every path is under")
	}
	return out
}
