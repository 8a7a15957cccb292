package lint

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
)

// deniedAllows counts, for each allow, the inbounds on which it applies, and those
// on which a deny takes all of its requests. An allow that is denied on some
// inbounds only is no finding: it serves the others.
type deniedAllows struct{ tally[strongerDeny] }

// strongerDeny is a deny that takes all requests of an allow.
type strongerDeny struct {
	// origin is the policy of the deny.
	origin string
	// denied says what the deny denies.
	denied string
}

// add counts the policies of one inbound of the layer.
func (d *deniedAllows) add(ps []permission.Policy, layer policy.Layer) {
	denies := deniesOf(ps, layer)
	for i := range ps {
		p := &ps[i]
		for _, r := range p.Rules {
			for _, m := range slices.Concat(r.Lists[permission.Allow], r.Lists[permission.AllowWithShadowDeny]) {
				by, ok := denies.find(m)
				// On L4 such an allow never holds, with or without a deny.
				if !ok && layer == policy.L4 && m.NeedsL7() {
					continue
				}
				d.count(p, m.Field, by, ok)
			}
		}
	}
}

func (d *deniedAllows) warnings() []policy.Warning {
	return d.tally.warnings(func(e *counted[strongerDeny]) policy.Warning {
		return e.policy.Warn(e.field, "never allows: %s denies %s", e.by.origin, e.by.denied)
	})
}

// denySet has the denies of one inbound, as they are read there.
type denySet struct {
	// identities has the denies that ask for an identity alone, each with the origin
	// of its policy.
	identities map[policy.Match]string
	others     []denial
}

// denial is a deny with the origin of its policy.
type denial struct {
	permission.Matcher
	origin string
}

func deniesOf(ps []permission.Policy, layer policy.Layer) denySet {
	out := denySet{identities: make(map[policy.Match]string)}
	for i := range ps {
		for _, r := range ps[i].Rules {
			for _, m := range r.Lists[permission.Deny] {
				m = reduceTo(m, layer)
				if m.Identity != nil && !m.NeedsL7() {
					out.identities[*m.Identity] = ps[i].Origin
				} else {
					out.others = append(out.others, denial{Matcher: m, origin: ps[i].Origin})
				}
			}
		}
	}
	return out
}

// reduceTo keeps of a deny what it asks on an inbound of the layer. L4 sees the
// identity only. On L7 the path / is dropped, for every request is under it.
func reduceTo(m permission.Matcher, layer policy.Layer) permission.Matcher {
	switch {
	case layer == policy.L4:
		m.Path, m.Method = nil, ""
	case m.Path != nil && m.Path.Kind == policy.Prefix && strings.TrimRight(m.Path.Value, "/") == "":
		m.Path = nil
	}
	return m
}

// find returns a deny that meets every request of the allow.
func (s denySet) find(allowed permission.Matcher) (strongerDeny, bool) {
	if allowed.Identity != nil {
		if origin, ok := s.findIdentity(*allowed.Identity); ok {
			return strongerDeny{origin, "the same identities"}, true
		}
	}
	for i := range s.others {
		switch d := &s.others[i]; {
		case !coversMatcher(&d.Matcher, &allowed):
		case d.Identity == nil && !d.NeedsL7():
			return strongerDeny{d.origin, "everybody"}, true
		default:
			return strongerDeny{d.origin, "the same requests"}, true
		}
	}
	return strongerDeny{}, false
}

// findIdentity looks up each prefix of the value, so that its cost does not grow
// with the number of denies.
func (s denySet) findIdentity(m policy.Match) (string, bool) {
	if by, ok := s.identities[m]; ok {
		return by, true
	}
	for end := len(m.Value); end > len(permission.Scheme); end-- {
		if by, ok := s.identities[policy.Match{Kind: policy.Prefix, Value: m.Value[:end]}]; ok {
			return by, true
		}
	}
	return "", false
}

// coversMatcher reports whether every request that meets the other matcher meets
// this one.
func coversMatcher(m, other *permission.Matcher) bool {
	switch {
	case m.Method != "" && m.Method != other.Method:
		return false
	case m.Identity != nil && (other.Identity == nil || !coversIdentity(*m.Identity, *other.Identity)):
		return false
	default:
		return m.Path == nil || other.Path != nil && coversPath(*m.Path, *other.Path)
	}
}

// coversIdentity compares bytes, as the identity matchers do.
func coversIdentity(m, other policy.Match) bool {
	return m == other || m.Kind == policy.Prefix && strings.HasPrefix(other.Value, m.Value)
}

// coversPath compares whole segments, as the path matchers do.
func coversPath(m, other policy.Match) bool {
	below := func(path string) string { return strings.TrimRight(path, "/") + "/" }
	return m == other || m.Kind == policy.Prefix && strings.HasPrefix(below(other.Value), below(m.Value))
}
