package classes

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/policy"
)

// Neighbours returns requests close to the border of a class, on either side of it: for
// each attribute that the class depends on, the witness with another value, such as a
// sibling, a child, another case. Each of them can be sent. A neighbour that the rules
// do not tell from the witness is in the class too.
func (c *Cover) Neighbours(class int) []Neighbour {
	of := &c.Classes[class]
	var out []Neighbour
	seen := []policy.Request{of.Witness}
	add := func(r policy.Request, why string) {
		c.arrive(&r)
		// A header that says no address leaves the caller's own.
		if c.trustsHeader && !r.Source.IsValid() && !r.Remote.IsValid() {
			r.Source = endpoint.Unnamed
		}
		if !c.canBeSent(&r) || slices.ContainsFunc(seen, func(s policy.Request) bool { return equal(r, s) }) {
			return
		}
		seen = append(seen, r)
		at, _ := c.Locate(r)
		out = append(out, Neighbour{r, at, why})
	}
	if c.regular != nil {
		c.regular.neighbours(class, add)
		for _, n := range c.hidden[int32(class)] {
			add(n.Request, n.Why)
		}
		return out
	}
	c.otherNames(of, add)
	for d, region := range of.regions() {
		if !region.cut {
			continue
		}
		a := c.axes[d]
		if region.key > a.rest {
			for _, v := range neighboursOf(a.space, a.patterns[region.key], a.read(&of.Witness)) {
				if a.sound(v.value) == nil {
					r := of.Witness
					a.put(&r, v.value)
					add(r, v.why)
				}
			}
		}
		if d == callers {
			c.otherCallers(of, add)
		}
	}
	for _, n := range c.hidden[int32(class)] {
		add(n.Request, n.Why)
	}
	return out
}

// neighboursOf returns values close to the border of a pattern, see [space.neighbours].
func neighboursOf(s space, p pattern, witness string) []variant {
	out := s.neighbours(p, witness)
	// A compiler may make a regular expression of a value, and take a dot for any character. No
	// caller has a trust domain of another name.
	name := len(trustDomain.FindString(witness))
	if before, behind, ok := strings.Cut(witness[name:], "."); ok {
		out = append(out, variant{witness[:name] + before + "x" + behind, anotherThanDot})
	}
	return out
}

var trustDomain = regexp.MustCompile(`^(spiffe|kuma)://[^/]*`)

const anotherThanDot = "another character for a dot"

// otherCallers adds callers without a name and with several names: they have no sound
// SVID.
func (c *Cover) otherCallers(of *Class, add func(policy.Request, string)) {
	key := of.regions()[callers].key
	a, space := c.axes[callers], c.axes[callers].space.(*callerSpace)
	if key <= a.rest {
		r := of.Witness
		r.URIs, r.DNS = nil, nil
		add(r, "no certificate")
	}
	if len(of.Witness.URIs) != 1 {
		return
	}
	for _, other := range []int32{a.rest, a.start} {
		if name := a.witnesses[other]; space.soundID(name) == nil && name != of.Witness.URIs[0] {
			for _, caller := range space.addNames(of.Witness, of.Witness.URIs[0], name) {
				add(caller, "several names")
			}
			return
		}
	}
}

// equal reports whether two requests are alike in all attributes.
func equal(r, s policy.Request) bool {
	return r.SNI == s.SNI && r.Port == s.Port && r.Destination == s.Destination && r.Source == s.Source && r.Remote == s.Remote && r.Method == s.Method && r.Path == s.Path && r.Host == s.Host &&
		slices.Equal(r.Headers, s.Headers) && slices.Equal(r.URIs, s.URIs) && slices.Equal(r.DNS, s.DNS) &&
		maps.EqualFunc(r.Others, s.Others, slices.Equal)
}

// hide makes a neighbour of each cell that stands for no class, since the rules never
// come to ask it: a hidden matcher is still worth a request.
func (c *Cover) hide(used [][]bool) {
	for d, a := range c.axes {
		if a == nil || a.settled {
			continue
		}
		for cell := range a.patterns {
			c.hideCell(d, int32(cell), used[d])
		}
	}
}

func (c *Cover) hideCell(d int, cell int32, used []bool) {
	a := c.axes[d]
	if !a.reachable(cell) {
		c.hideAround(d, a.patterns[cell])
		return
	}
	if used[cell] {
		return
	}
	r := c.withoutDimension(d)
	c.put(&r, d, cell)
	c.addHidden(r, "a matcher that is never asked: "+c.cellText(d, cell))
}

// hideAround makes neighbours of the values around an exact server name that no caller
// sends. A compiler that takes the name for a beginning lets other names in.
func (c *Cover) hideAround(d int, p pattern) {
	a := c.axes[d]
	if _, names := a.space.(sniSpace); !names || p.kind != policy.Exact {
		return
	}
	for _, v := range neighboursOf(a.space, p, a.value(p.text)) {
		if a.sound(v.value) == nil {
			r := c.withoutDimension(d)
			a.put(&r, v.value)
			c.addHidden(r, v.why)
		}
	}
}

// withoutDimension returns the request that stands for all others in the other dimensions.
func (c *Cover) withoutDimension(d int) policy.Request {
	var r policy.Request
	for other := range c.axes {
		if a := c.axes[other]; other != d && a != nil && !a.settled {
			c.put(&r, other, a.start)
		}
	}
	return r
}

// addHidden adds a neighbour to the class that it is in.
func (c *Cover) addHidden(r policy.Request, why string) {
	if at, ok := c.Locate(r); ok && c.canBeSent(&r) {
		if c.hidden == nil {
			c.hidden = make(map[int32][]Neighbour)
		}
		c.hidden[int32(at)] = append(c.hidden[int32(at)], Neighbour{Request: r, Why: why})
	}
}

// mostChanged bounds how many names are added to the witness of a class, or taken away.
const mostChanged = 2

// otherNames adds callers who are almost the witness of a class. It is for callers that
// are sets of names.
func (c *Cover) otherNames(of *Class, add func(policy.Request, string)) {
	present, absent := of.asked()
	if len(present)+len(absent) == 0 {
		return
	}
	o := otherNames{names: c.names, request: of.Witness, add: add}
	o.addOne(absent)
	o.dropOne()
	o.reorder()
	o.changeKind()
	if len(present) == 0 {
		o.addCaller(nil, nil, "no certificate")
	}
	// One of the classes that differ in other matchers only is enough.
	if last := len(present) - 1; last >= 0 && c.edges[present[last]] == of.self {
		o.changeValue(present[last])
	}
}

// otherNames makes callers of one caller.
type otherNames struct {
	*names
	request policy.Request
	add     func(policy.Request, string)
}

// addCaller adds a caller who can have an SVID, or who has none.
func (o otherNames) addCaller(uris, dns []string, why string) {
	if len(uris) > 0 && o.firsts.sound(uris[0]) == nil || len(uris)+len(dns) == 0 {
		r := o.request
		r.URIs, r.DNS = uris, dns
		o.add(r, why)
	}
}

// addOne adds a name for a pattern that was asked late and covers no name yet, and a name
// that no pattern covers.
func (o otherNames) addOne(absent []int32) {
	with := func(name string) {
		r := o.request
		addName(&r, name)
		o.addCaller(r.URIs, r.DNS, "one name more")
	}
	for _, cell := range absent[max(0, len(absent)-mostChanged):] {
		if cell = o.pick(cell); cell >= 0 {
			with(o.witnesses[cell])
		}
	}
	if name, _, ok := o.try(0, "", 1); ok {
		with(name)
	}
}

// dropOne takes away one of the last names.
func (o otherNames) dropOne() {
	const why = "one name less"
	for i := len(o.request.URIs) - 1; i >= max(0, len(o.request.URIs)-mostChanged); i-- {
		o.addCaller(slices.Delete(slices.Clone(o.request.URIs), i, i+1), o.request.DNS, why)
	}
	if last := len(o.request.DNS) - 1; last >= 0 {
		o.addCaller(o.request.URIs, o.request.DNS[:last], why)
	}
}

// reorder reverses the names, without the name in front and with it.
func (o otherNames) reorder() {
	const why = "the same names in another order"
	if len(o.request.URIs) < 2 {
		return
	}
	behind := slices.Clone(o.request.URIs)
	slices.Reverse(behind[1:])
	o.addCaller(behind, o.request.DNS, why)
	all := slices.Clone(o.request.URIs)
	slices.Reverse(all)
	o.addCaller(all, o.request.DNS, why)
}

// changeKind moves the last URI SAN to the DNS SANs.
func (o otherNames) changeKind() {
	last := len(o.request.URIs) - 1
	if last < 0 {
		return
	}
	uris := o.request.URIs[:last]
	if last == 0 {
		front := o.front()
		if front < 0 {
			return
		}
		uris = []string{o.firsts.witnesses[front]}
	}
	o.addCaller(uris, append(slices.Clone(o.request.DNS), o.request.URIs[last]), "a name as a DNS SAN")
}

// changeValue changes the name that a pattern covers.
func (o otherNames) changeValue(cell int32) {
	p := o.patterns[cell]
	if i := slices.IndexFunc(o.request.URIs, p.covers); i >= 0 {
		for _, v := range neighboursOf(o.space, p, o.request.URIs[i]) {
			if o.sound(v.value) == nil && isURI(v.value) {
				uris := slices.Clone(o.request.URIs)
				uris[i] = v.value
				o.addCaller(uris, o.request.DNS, v.why)
			}
		}
		return
	}
	if i := slices.IndexFunc(o.request.DNS, p.covers); i >= 0 {
		for _, v := range neighboursOf(o.space, p, o.request.DNS[i]) {
			if o.sound(v.value) == nil {
				dns := slices.Clone(o.request.DNS)
				dns[i] = v.value
				o.addCaller(o.request.URIs, dns, v.why)
			}
		}
	}
}
