package classes

import (
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// borders bounds how many names are added to those of a class's witness, or taken
// away.
const borders = 2

// otherNames adds callers who are almost the witness of a class, where callers are
// sets of names.
func (c *Cover) otherNames(of *Class, add func(policy.Request, string)) {
	present, absent := of.asked()
	if len(present)+len(absent) == 0 {
		return
	}
	o := otherNames{names: c.names, of: of.Witness, add: add}
	o.more(absent)
	o.less()
	o.order()
	o.kind()
	if len(present) == 0 {
		o.caller(nil, nil, "no certificate")
	}
	// Of the classes that differ in other matchers only, one is enough.
	if last := len(present) - 1; last >= 0 && c.edges[present[last]] == of.self {
		o.values(present[last])
	}
}

// otherNames are callers made of one.
type otherNames struct {
	*names
	of  policy.Request
	add func(policy.Request, string)
}

// caller adds a caller who can have an SVID, or who has none.
func (o otherNames) caller(uris, dns []string, why string) {
	if len(uris) > 0 && o.firsts.sound(uris[0]) == nil || len(uris)+len(dns) == 0 {
		r := o.of
		r.URIs, r.DNS = uris, dns
		o.add(r, why)
	}
}

// more adds names of the patterns that were asked last and in vain, and one that no
// pattern covers.
func (o otherNames) more(absent []int32) {
	with := func(name string) {
		r := o.of
		addName(&r, name)
		o.caller(r.URIs, r.DNS, "one name more")
	}
	for _, cell := range absent[max(0, len(absent)-borders):] {
		if cell = o.pick(cell); cell >= 0 {
			with(o.witnesses[cell])
		}
	}
	if name, _, ok := o.try(0, "", 1); ok {
		with(name)
	}
}

func (o otherNames) less() {
	const why = "one name less"
	for i := len(o.of.URIs) - 1; i >= max(0, len(o.of.URIs)-borders); i-- {
		o.caller(slices.Delete(slices.Clone(o.of.URIs), i, i+1), o.of.DNS, why)
	}
	if last := len(o.of.DNS) - 1; last >= 0 {
		o.caller(o.of.URIs, o.of.DNS[:last], why)
	}
}

// order turns the names around, behind the one in front and with it.
func (o otherNames) order() {
	const why = "the same names in another order"
	if len(o.of.URIs) < 2 {
		return
	}
	behind := slices.Clone(o.of.URIs)
	slices.Reverse(behind[1:])
	o.caller(behind, o.of.DNS, why)
	all := slices.Clone(o.of.URIs)
	slices.Reverse(all)
	o.caller(all, o.of.DNS, why)
}

// kind moves the last URI SAN to the DNS SANs.
func (o otherNames) kind() {
	last := len(o.of.URIs) - 1
	if last < 0 {
		return
	}
	uris := o.of.URIs[:last]
	if last == 0 {
		front := o.front()
		if front < 0 {
			return
		}
		uris = []string{o.firsts.witnesses[front]}
	}
	o.caller(uris, append(slices.Clone(o.of.DNS), o.of.URIs[last]), "a name as a DNS SAN")
}

// values changes the name that a pattern covers.
func (o otherNames) values(cell int32) {
	p := o.patterns[cell]
	if i := slices.IndexFunc(o.of.URIs, p.covers); i >= 0 {
		for _, v := range o.around(p, o.of.URIs[i]) {
			if o.sound(v.value) == nil && isURI(v.value) {
				uris := slices.Clone(o.of.URIs)
				uris[i] = v.value
				o.caller(uris, o.of.DNS, v.why)
			}
		}
		return
	}
	if i := slices.IndexFunc(o.of.DNS, p.covers); i >= 0 {
		for _, v := range o.around(p, o.of.DNS[i]) {
			if o.sound(v.value) == nil {
				dns := slices.Clone(o.of.DNS)
				dns[i] = v.value
				o.caller(o.of.URIs, dns, v.why)
			}
		}
	}
}
