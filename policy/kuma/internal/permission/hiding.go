package permission

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// hiding counts, for each allow, the inbounds it applies to and those on which a
// deny leaves nothing of it. An allow that one owner opted out of still serves
// the others, and is no finding.
type hiding struct{ tally[cover] }

// cover is a deny that leaves nothing of an allow.
type cover struct {
	// origin is the policy of the deny.
	origin string
	// whom says what the deny and the allow have in common.
	whom string
}

// observe takes in the policies of one inbound of the layer.
func (h *hiding) observe(ps []Policy, layer policy.Layer) {
	denies := coveringDenies(ps, layer)
	for i := range ps {
		p := &ps[i]
		for _, r := range p.rules {
			for _, m := range slices.Concat(r.lists[allow], r.lists[allowWithShadowDeny]) {
				by, ok := denies.covering(m)
				// Such an allow is none on this inbound, with or without a deny.
				if !ok && layer == policy.L4 && m.needsL7() {
					continue
				}
				h.count(p, m.field, by, ok)
			}
		}
	}
}

func (h *hiding) warnings() []policy.Warning {
	return h.tally.warnings(func(e *tallied[cover]) policy.Warning {
		return e.policy.warn(e.field, "never allows: %s denies %s", e.by.origin, e.by.whom)
	})
}

// covers holds the denies of an inbound, as they are read there.
type covers struct {
	// identities are those that ask for an identity alone, each with the policy it
	// is of.
	identities map[policy.Match]string
	others     []denial
}

// denial is a deny with the policy it is of.
type denial struct {
	matcher
	origin string
}

func coveringDenies(ps []Policy, layer policy.Layer) covers {
	out := covers{identities: make(map[policy.Match]string)}
	for i := range ps {
		for _, r := range ps[i].rules {
			for _, m := range r.lists[deny] {
				m = m.deniedOn(layer)
				if m.identity != nil && !m.needsL7() {
					out.identities[*m.identity] = ps[i].origin
				} else {
					out.others = append(out.others, denial{matcher: m, origin: ps[i].origin})
				}
			}
		}
	}
	return out
}

// deniedOn leaves of a deny what it asks on an inbound of the layer: on L4 only
// the identity, and on L7 no path that every request has.
func (m matcher) deniedOn(layer policy.Layer) matcher {
	switch {
	case layer == policy.L4:
		m.path, m.method = nil, ""
	case m.path != nil && m.path.Kind == policy.Prefix && strings.TrimRight(m.path.Value, "/") == "":
		m.path = nil
	}
	return m
}

// covering finds a deny that meets everything the allow meets.
func (c covers) covering(allowed matcher) (cover, bool) {
	if allowed.identity != nil {
		if origin, ok := c.identity(*allowed.identity); ok {
			return cover{origin, "the same identities"}, true
		}
	}
	for i := range c.others {
		switch d := &c.others[i]; {
		case !d.covers(&allowed):
		case d.identity == nil && !d.needsL7():
			return cover{d.origin, "everybody"}, true
		default:
			return cover{d.origin, "the same requests"}, true
		}
	}
	return cover{}, false
}

// identity asks once for each beginning of the value, whatever the number of
// denies.
func (c covers) identity(m policy.Match) (string, bool) {
	if by, ok := c.identities[m]; ok {
		return by, true
	}
	for end := len(m.Value); end > len(scheme); end-- {
		if by, ok := c.identities[policy.Match{Kind: policy.Prefix, Value: m.Value[:end]}]; ok {
			return by, true
		}
	}
	return "", false
}

// covers reports whether each field that the matcher asks for is asked for by the
// other one too, and met by everything that meets it there.
func (m *matcher) covers(other *matcher) bool {
	switch {
	case m.method != "" && m.method != other.method:
		return false
	case m.identity != nil && (other.identity == nil || !coversIdentity(*m.identity, *other.identity)):
		return false
	default:
		return m.path == nil || other.path != nil && coversPath(*m.path, *other.path)
	}
}

// coversIdentity compares bytes, as identities are.
func coversIdentity(m, other policy.Match) bool {
	return m == other || m.Kind == policy.Prefix && strings.HasPrefix(other.Value, m.Value)
}

// coversPath compares segments, as a prefix of paths does.
func coversPath(m, other policy.Match) bool {
	below := func(path string) string { return strings.TrimRight(path, "/") + "/" }
	return m == other || m.Kind == policy.Prefix && strings.HasPrefix(below(other.Value), below(m.Value))
}
