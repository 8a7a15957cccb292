package classes

import (
	"slices"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
)

// caller gives a request a caller.
func (v *values) caller(l literals, request *policy.Request) automaton.Answer {
	space := v.spaces[callers].(*callerSpace)
	// Names of DNS SANs stay where rules look at them as one text.
	uris := func(names ...string) policy.Request {
		r := *request
		r.URIs = names
		if v.perName() {
			r.DNS = nil
		}
		return r
	}
	text, answer := v.text(v.sets[callers], l)
	if answer == automaton.Found {
		*request = uris(text)
		return answer
	}
	if v.perName() && v.joined == nil && !v.mixedNames() && len(l.present) > 0 {
		found, several := v.names(l, space)
		if found == automaton.Found {
			r := *request
			r.URIs, r.DNS = several.URIs, several.DNS
			if !v.fits(l, &r) {
				return v.noteLimit(l)
			}
			*request = r
		}
		return found
	}
	if v.joined != nil && answer == automaton.Empty {
		if text, joined := v.text([]*automaton.Language{v.joined}, l); joined == automaton.Found {
			*request = uris(splitNames(text)...)
			return joined
		} else if joined == automaton.Limited {
			answer = joined
		}
	}
	// The last resort is a caller without any name.
	if r := uris(); v.fits(l, &r) {
		r.DNS = nil
		*request = r
		return automaton.Found
	}
	return answer
}

// perName reports whether an atom looks at each name of a caller by itself, and mixedNames
// whether others look at all of them as one text.
func (v *values) perName() bool {
	return slices.ContainsFunc(v.atoms, func(a atom) bool { return a.perName })
}

func (v *values) mixedNames() bool {
	return slices.ContainsFunc(v.atoms, func(a atom) bool { return a.dimension == callers && !a.perName })
}

// names finds several names of a caller: one for each atom, and a SPIFFE ID in front.
func (v *values) names(l literals, space *callerSpace) (automaton.Answer, policy.Request) {
	var names []string
	sets := append(slices.Clone(v.sets[callers]), v.any)
	for _, at := range l.present {
		if slices.ContainsFunc(names, v.atoms[at].is.Match.Matches) {
			continue
		}
		only := literals{[]int32{at}, l.absent}
		name, answer := v.text(sets, only)
		if answer == automaton.Empty {
			answer = v.askUnprintable(only)
		}
		if answer != automaton.Found {
			return answer, policy.Request{}
		}
		names = append(names, name)
	}
	front := slices.IndexFunc(names, func(name string) bool { return space.soundID(name) == nil })
	if front < 0 {
		name, answer := v.text(v.sets[callers], literals{nil, l.absent})
		if answer != automaton.Found {
			return answer, policy.Request{}
		}
		names, front = append(names, name), len(names)
	}
	r := policy.Request{URIs: []string{names[front]}}
	for i, name := range names {
		if i != front {
			addName(&r, name)
		}
	}
	return automaton.Found, r
}
