package lint

import (
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// tally counts, for each field of a policy, the inbounds on which it applies, and
// those on which something stronger takes its effect. B is what takes the effect.
// The zero value is empty.
type tally[B any] struct {
	byPlace map[string]*counted[B]
	order   []*counted[B]
}

// counted is the tally of one field.
type counted[B any] struct {
	policy *permission.Policy
	field  string
	// by is what takes the effect on the first inbound where the field loses it.
	by            B
	applies, lost int
}

func (t *tally[B]) count(p *permission.Policy, field string, by B, lost bool) {
	place := p.Doc.Place(field)
	entry := t.byPlace[place]
	if entry == nil {
		if t.byPlace == nil {
			t.byPlace = make(map[string]*counted[B])
		}
		entry = &counted[B]{policy: p, field: field}
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

// warnings returns a warning for each field that has an effect on no inbound, in the
// order in which the fields were first counted.
func (t *tally[B]) warnings(say func(*counted[B]) policy.Warning) []policy.Warning {
	var out []policy.Warning
	for _, e := range t.order {
		if e.lost == e.applies {
			out = append(out, say(e))
		}
	}
	return out
}
