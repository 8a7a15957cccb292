// Package candidates finds the few rules of a program that a request can meet, so that
// thousands of rules need not be tried for each of thousands of requests.
//
// It guarantees that the smaller program decides alike; a rule is left out only where the
// request lacks a value that the rule demands. It decides nothing itself.
package candidates

import (
	"cmp"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/policy"
)

// Index knows the rules of one program by the values that they demand. It is immutable.
type Index struct {
	program policy.Program
	// gates, shadows and routes have an entry for each one of the program.
	gates, shadows []*list
	routes         []*Index
}

// minAlternatives is the number of alternatives from which on a list is worth an index.
const minAlternatives = 32

// NewIndex returns the index of a program.
func NewIndex(p policy.Program) *Index { return indexOf(p, minAlternatives) }

func indexOf(p policy.Program, least int) *Index {
	x := &Index{program: p}
	for _, g := range p.Gates {
		x.gates = append(x.gates, newList(g.Rules, least))
	}
	for _, g := range p.Shadows {
		x.shadows = append(x.shadows, newList(g.Rules, least))
	}
	for _, r := range p.Routes {
		x.routes = append(x.routes, indexOf(policy.Program{Gates: r.Gates, Shadows: r.Shadows}, least))
	}
	return x
}

// Narrow returns a program that decides the request as the whole program does. An Or with
// many alternatives has only the alternatives that the request can meet.
func (x *Index) Narrow(r *policy.Request) policy.Program {
	p := policy.Program{Gates: narrowGates(x.program.Gates, x.gates, r), Shadows: narrowGates(x.program.Shadows, x.shadows, r), RoutesOnly: x.program.RoutesOnly}
	for i, route := range x.program.Routes {
		if !route.Takes(r) {
			continue
		}
		own := x.routes[i].Narrow(r)
		route.Gates, route.Shadows = own.Gates, own.Shadows
		// Only the first route that matches counts.
		p.Routes = []policy.Route{route}
		break
	}
	return p
}

// Decide is [policy.Decide].
func (x *Index) Decide(r policy.Request) policy.Decision { return policy.Decide(x.Narrow(&r), r) }

func narrowGates(gates []policy.Gate, lists []*list, r *policy.Request) []policy.Gate {
	if !slices.ContainsFunc(lists, func(l *list) bool { return l != nil }) {
		return gates
	}
	out := slices.Clone(gates)
	for i, l := range lists {
		if l != nil {
			out[i].Rules = l.narrow(r)
		}
	}
	return out
}

// list is a list of rules with what their alternatives demand.
type list struct {
	rules []policy.Rule
	// inner has the lists within the rules, nil where they are short.
	inner []*list
	// alternatives are those of all rules, in order.
	alternatives []alternative
	// free are the numbers of the alternatives that demand no value.
	free   []int32
	values map[*policy.Attribute]*values
}

// alternative is one way to meet a rule.
type alternative struct {
	rule int32
	when policy.Condition
}

// values has the numbers of the alternatives that demand a value of an attribute.
type values struct {
	exact, prefix map[string][]int32
	// lengths are those of the prefixes, in order.
	lengths []int
}

// newList returns nil for a list with fewer than the least alternatives.
func newList(rules []policy.Rule, least int) *list {
	l := &list{rules: rules, inner: make([]*list, len(rules)), values: map[*policy.Attribute]*values{}}
	long := false
	for i, rule := range rules {
		l.inner[i] = newList(rule.Then, least)
		long = long || l.inner[i] != nil
		for _, when := range waysOf(rule.When) {
			l.alternatives = append(l.alternatives, alternative{int32(i), when})
		}
	}
	if len(l.alternatives) < least && !long {
		return nil
	}
	for n, a := range l.alternatives {
		l.add(int32(n), demandOf(a.when))
	}
	for _, v := range l.values {
		lengths := map[int]bool{}
		for prefix := range v.prefix {
			lengths[len(prefix)] = true
		}
		v.lengths = slices.Sorted(maps.Keys(lengths))
	}
	return l
}

// waysOf returns the ways to meet a condition. There is none for a missing condition.
func waysOf(when policy.Condition) []policy.Condition {
	if when == nil {
		return nil
	}
	if or, ok := when.(policy.Or); ok {
		return slices.DeleteFunc(slices.Clone(or), func(c policy.Condition) bool { return c == nil })
	}
	return []policy.Condition{when}
}

// demandOf returns a comparison that has to hold where the condition holds, and nil where
// there is none. Of several, the longest is met least often.
func demandOf(when policy.Condition) *policy.Is {
	switch c := when.(type) {
	case policy.Is:
		if c.Attribute == nil || c.Attribute.Text == nil && c.Attribute.Each == nil || c.Match.AnyCase || c.Match.Kind > policy.Segments {
			return nil
		}
		return &c
	case policy.And:
		var best *policy.Is
		for _, of := range c {
			if d := demandOf(of); d != nil && (best == nil || len(d.Match.Value) > len(best.Match.Value)) {
				best = d
			}
		}
		return best
	default:
		return nil
	}
}

func (l *list) add(n int32, d *policy.Is) {
	if d == nil {
		l.free = append(l.free, n)
		return
	}
	v := l.values[d.Attribute]
	if v == nil {
		v = &values{exact: map[string][]int32{}, prefix: map[string][]int32{}}
		l.values[d.Attribute] = v
	}
	switch d.Match.Kind {
	case policy.Exact:
		v.exact[d.Match.Value] = append(v.exact[d.Match.Value], n)
	case policy.Segments:
		v.prefix[d.Match.Segment()] = append(v.prefix[d.Match.Segment()], n)
	default:
		v.prefix[d.Match.Value] = append(v.prefix[d.Match.Value], n)
	}
}

// narrow returns the rules that the request can meet, in order.
func (l *list) narrow(r *policy.Request) []policy.Rule {
	met := slices.Clone(l.free)
	for a, v := range l.values {
		eachValue(a, r, func(value string) { met = v.find(met, value) })
	}
	slices.SortFunc(met, cmp.Compare[int32])
	met = slices.Compact(met)
	var out []policy.Rule
	for len(met) > 0 {
		i := l.alternatives[met[0]].rule
		var ways policy.Or
		for len(met) > 0 && l.alternatives[met[0]].rule == i {
			ways = append(ways, l.alternatives[met[0]].when)
			met = met[1:]
		}
		rule := l.rules[i]
		if or, ok := rule.When.(policy.Or); ok && len(ways) < len(or) {
			rule.When = ways
		}
		if l.inner[i] != nil {
			rule.Then = l.inner[i].narrow(r)
		}
		out = append(out, rule)
	}
	return out
}

// eachValue calls yield for each value that the attribute compares.
func eachValue(a *policy.Attribute, r *policy.Request, yield func(string)) {
	if a.Text != nil {
		if text, ok := a.Text(r); ok {
			yield(text)
		}
		return
	}
	for i := 0; ; i++ {
		value, ok := a.Each(r, i)
		if !ok {
			return
		}
		yield(value)
	}
}

// find adds the alternatives that a value can meet.
func (v *values) find(met []int32, value string) []int32 {
	met = append(met, v.exact[value]...)
	for _, n := range v.lengths {
		if n > len(value) {
			break
		}
		met = append(met, v.prefix[value[:n]]...)
	}
	return met
}
