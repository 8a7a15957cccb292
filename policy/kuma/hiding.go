package kuma

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// hiding counts, for each allow, the inbounds it applies to and those on which a
// deny leaves nothing of it. An allow that one owner opted out of still serves
// the others, and is no finding.
type hiding struct {
	byPlace map[string]*hidden
	order   []*hidden
}

type hidden struct {
	policy  *Policy
	matcher matcher
	// by is the deny that hides it, on the first inbound.
	by              string
	applies, hidden int
}

// observe takes in the policies of one inbound.
func (h *hiding) observe(ps []Policy) {
	denies := coveringDenies(ps)
	for i := range ps {
		p := &ps[i]
		for _, r := range p.rules {
			for _, m := range slices.Concat(r.lists[allow], r.lists[allowWithShadowDeny]) {
				if m.identity == nil {
					continue
				}
				place := p.doc.Place(m.field)
				entry := h.byPlace[place]
				if entry == nil {
					entry = &hidden{policy: p, matcher: m}
					h.byPlace[place] = entry
					h.order = append(h.order, entry)
				}
				entry.applies++
				if by, ok := denies.covering(*m.identity); ok {
					entry.hidden++
					entry.by = by
				}
			}
		}
	}
}

func (h *hiding) warnings() []policy.Warning {
	var out []policy.Warning
	for _, e := range h.order {
		if e.hidden == e.applies {
			out = append(out, e.policy.warn(e.matcher.field, "never allows: %s denies the same identities", e.by))
		}
	}
	return out
}

// covers holds the denies of an inbound that ask for an identity alone, each with
// the policy it is of.
type covers map[policy.StringMatch]string

func coveringDenies(ps []Policy) covers {
	out := make(covers)
	for i := range ps {
		for _, r := range ps[i].rules {
			for _, m := range r.lists[deny] {
				if m.identity != nil && !m.needsL7() {
					out[*m.identity] = ps[i].origin
				}
			}
		}
	}
	return out
}

// covering finds the deny that meets everything the match meets. It asks once for
// each beginning of the value, whatever the number of denies.
func (c covers) covering(m policy.StringMatch) (string, bool) {
	if by, ok := c[m]; ok {
		return by, true
	}
	for end := len(m.Value); end > len(scheme); end-- {
		if by, ok := c[policy.StringMatch{Kind: policy.Prefix, Value: m.Value[:end]}]; ok {
			return by, true
		}
	}
	return "", false
}
