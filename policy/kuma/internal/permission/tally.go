package permission

import "github.com/meshproof/meshproof/policy"

// tally counts, for each field of a policy, the inbounds it applies to and those on
// which something leaves nothing of it. B says what. The zero value is empty.
type tally[B any] struct {
	byPlace map[string]*tallied[B]
	order   []*tallied[B]
}

type tallied[B any] struct {
	policy *Policy
	field  string
	// by is what leaves nothing of it, on the first inbound where something does.
	by            B
	applies, lost int
}

func (t *tally[B]) count(p *Policy, field string, by B, lost bool) {
	place := p.doc.Place(field)
	entry := t.byPlace[place]
	if entry == nil {
		if t.byPlace == nil {
			t.byPlace = make(map[string]*tallied[B])
		}
		entry = &tallied[B]{policy: p, field: field}
		t.byPlace[place] = entry
		t.order = append(t.order, entry)
	}
	entry.applies++
	if lost {
		if entry.lost == 0 {
			entry.by = by
		}
		entry.lost++
	}
}

// warnings has one for each field that serves no inbound, in the order in which
// they were first counted.
func (t *tally[B]) warnings(say func(*tallied[B]) policy.Warning) []policy.Warning {
	var out []policy.Warning
	for _, e := range t.order {
		if e.lost == e.applies {
			out = append(out, say(e))
		}
	}
	return out
}
