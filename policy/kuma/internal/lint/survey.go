package lint

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
	"github.com/meshproof/meshproof/policy/kuma/internal/target"
)

// Survey has the warnings that need all inbounds together. [Lint] returns them
// among others.
type Survey struct {
	// Idle has a warning for each policy that applies to no inbound.
	Idle []policy.Warning
	// Hidden has a warning for each allow that denies take on every inbound, and for
	// each item of from that items of stronger policies override on every inbound.
	Hidden []policy.Warning
}

// TakeSurvey surveys the policies on the given inbounds. Without an inbound it finds
// nothing.
func TakeSurvey(ps []permission.Policy, inbounds []policy.Inbound, opts permission.Options) Survey {
	s := newSurvey(opts)
	index := selection.NewIndex(ps)
	for _, in := range inbounds {
		s.add(selection.Select(index.Candidates(in), in, opts), in)
	}
	return Survey{Idle: s.idleWarnings(ps), Hidden: s.hiddenWarnings()}
}

// survey gathers the selections of several inbounds.
type survey struct {
	denied  deniedAllows
	hidden  overriddenItems
	applied map[string]bool
	// overridden has, for each policy that selects an inbound and has no effect beside others,
	// the first such inbound with the reason.
	overridden map[string]string
	inbounds   []policy.Inbound
	opts       permission.Options
}

func newSurvey(opts permission.Options) *survey {
	return &survey{
		applied:    make(map[string]bool),
		overridden: make(map[string]string),
		opts:       opts,
	}
}

func (s *survey) add(sel selection.Selection, in policy.Inbound) {
	s.denied.add(sel.Policies, in.Protocol.Layer())
	s.hidden.add(sel.Policies)
	for i := range sel.Policies {
		s.applied[sel.Policies[i].Origin] = true
	}
	for i := range sel.Ignored {
		if ignored := &sel.Ignored[i]; ignored.Overridden && s.overridden[ignored.Policy.Origin] == "" {
			s.overridden[ignored.Policy.Origin] = in.String() + ": " + ignored.Reason
		}
	}
	s.inbounds = append(s.inbounds, in)
}

func (s *survey) hiddenWarnings() []policy.Warning {
	return append(s.denied.warnings(), s.hidden.warnings()...)
}

// idleWarnings warns of the policies that apply to no inbound, and names the nearest one.
func (s *survey) idleWarnings(ps []permission.Policy) []policy.Warning {
	var out []policy.Warning
	if len(s.inbounds) == 0 {
		return nil
	}
	for i := range ps {
		p := &ps[i]
		if s.applied[p.Origin] {
			continue
		}
		why := s.overridden[p.Origin]
		if why == "" {
			nearest, reason := selection.Nearest(p, s.inbounds, s.opts)
			why = nearest.String() + ": " + reason
		}
		out = append(out, p.Warn(warning.SelectsNothing, "", "%s %s applies to no inbound (%s)", permission.KindName, p.ID.Name, why))
	}
	return out
}

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
		return e.policy.Warn(warning.HiddenByDeny, e.field, "never allows: %s denies %s", e.taker.origin, e.taker.denied)
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
				if m.Identity != nil && m.SNI == "" && !m.NeedsL7() {
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
// identity and the server name only. On L7 the path / is dropped, for every request is under it.
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
		case d.Identity == nil && d.SNI == "" && !d.NeedsL7():
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
	case m.Method != "" && m.Method != other.Method, m.SNI != "" && m.SNI != other.SNI:
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

// overriddenItems counts, for each item of from, the inbounds on which it applies,
// and those on which an item of a stronger policy names all of its clients. Items
// that their own policy overrides are left to lintFrom.
type overriddenItems struct{ tally[placedItem] }

// placedItem is an item of from, with its policy and its index there.
type placedItem struct {
	permission.FromItem
	policy *permission.Policy
	index  int
}

// add counts the policies of one inbound. Items of a route override items of the
// same route only: the items of the proxy govern the requests of all routes.
func (o *overriddenItems) add(ps []permission.Policy) {
	scopes := make(map[string][]placedItem)
	var names []string
	for i := range ps {
		p, scope := &ps[i], ""
		if p.Target.Kind == target.Route {
			scope = p.Target.Name
		}
		if len(p.From) > 0 && scopes[scope] == nil {
			names = append(names, scope)
		}
		for k, item := range p.From {
			scopes[scope] = append(scopes[scope], placedItem{FromItem: item, policy: p, index: k})
		}
	}
	for _, name := range names {
		items := scopes[name]
		for i, item := range items {
			by, ok := findOverriding(item, items[i+1:])
			if !ok || by.policy != item.policy {
				o.count(item.policy, item.Field, by, ok)
			}
		}
	}
}

// findOverriding finds a later item that names all clients of the given item. An
// item of the same policy is preferred.
func findOverriding(item placedItem, later []placedItem) (by placedItem, ok bool) {
	for _, l := range later {
		switch {
		case !coversItem(l.FromItem, item.FromItem):
		case l.policy == item.policy:
			return l, true
		default:
			// The last item is the strongest: it decides.
			by, ok = l, true
		}
	}
	return by, ok
}

func (o *overriddenItems) warnings() []policy.Warning {
	return o.tally.warnings(func(e *counted[placedItem]) policy.Warning {
		return e.policy.Warn(warning.Overridden, e.field, "decides about no caller: from[%d] of %s comes later, wins, and names all of these clients", e.taker.index, e.taker.policy)
	})
}

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
	// taker is what takes the effect on the first inbound where the field loses it.
	taker         B
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
			entry.taker = by
		}
		entry.lost++
	}
}

// warnings returns a warning for each field that has an effect on no inbound, in the
// order of their first counts.
func (t *tally[B]) warnings(say func(*counted[B]) policy.Warning) []policy.Warning {
	var out []policy.Warning
	for _, e := range t.order {
		if e.lost == e.applies {
			out = append(out, say(e))
		}
	}
	return out
}
