package suite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// sumRules adds up the counters of each rule over the filters of an inbound. It leaves out
// filters that only log.
func sumRules(filters []evidence.FilterCounters) map[string]evidence.Counters {
	sums := map[string]evidence.Counters{}
	for _, f := range filters {
		if f.Rule != "" && !f.Logs {
			sums[f.Rule] = add(sums[f.Rule], f.Counters)
		}
	}
	return sums
}

// checkConservation holds Envoy's counters against the access log, filter by filter and rule
// by rule: each request that a filter judged moves one of its counters by one, and one of the
// rule that decided, and nothing else does.
// Where the policies are one gate, no second filter of meshproof's own may judge either: then the
// sum is what was found. Another compiler may divide the policies among filters.
func (r *run) checkConservation(sent map[string][]evidence.Evidence, filters map[string][]evidence.FilterCounters, found func(inbound string) evidence.Counters) error {
	var errs []error
	for _, in := range r.reading.Inbounds() {
		name := in.String()
		want, moved := evidence.Count(sent[name]), filters[name]
		sum, movedSum := found(name), evidence.Sum(moved)
		switch {
		case !in.HasSeveralGates() && !r.runner.AnyNames && !r.runner.Divided && !r.isForeign() && sum != movedSum:
			errs = append(errs, fmt.Errorf("the counters of %s moved by %s; the requests add up to %s", name, movedSum, sum))
		case !slices.Equal(want, moved):
			only := func(counters, others []evidence.FilterCounters) []evidence.FilterCounters {
				return slices.DeleteFunc(slices.Clone(counters), func(c evidence.FilterCounters) bool { return slices.Contains(others, c) })
			}
			errs = append(errs, fmt.Errorf("the counters of %s moved by %s; the requests add up to %s", name, only(moved, want), only(want, moved)))
		}
	}
	return errors.Join(errs...)
}

// countFindings returns what the counters of an inbound with one filter must have moved by,
// if the findings are true.
func (r *run) countFindings(inbound string) (c evidence.Counters) {
	for _, q := range r.result.Requests {
		if f := q.Finding; q.To == inbound {
			count(&c, xds.Engine{Ran: f.Judged, Verdict: f.Verdict}, f.Shadow)
		}
	}
	return c
}

// countLogs does the same from what all filters of an inbound said together.
func countLogs(sent []evidence.Evidence) (c evidence.Counters) {
	for _, e := range sent {
		count(&c, e.Log.Enforced, e.Log.Shadow)
	}
	return c
}

func count(c *evidence.Counters, enforced, shadow xds.Engine) {
	one := func(e xds.Engine, allowed, denied *uint64) {
		switch {
		case !e.Ran:
		case e.Verdict.Effect == policy.Allow:
			*allowed++
		default:
			*denied++
		}
	}
	one(enforced, &c.Allowed, &c.Denied)
	one(shadow, &c.ShadowAllowed, &c.ShadowDenied)
}

// addCounters adds what the counters of inbounds moved by to the result.
func (r *run) addCounters(filters map[string][]evidence.FilterCounters) {
	if r.result.Counters == nil {
		r.result.Counters, r.result.Rules = map[string]evidence.Counters{}, map[string]map[string]evidence.Counters{}
	}
	for name, moved := range filters {
		r.result.Counters[name] = add(r.result.Counters[name], evidence.Sum(moved))
		for rule, sum := range sumRules(moved) {
			if r.result.Rules[name] == nil {
				r.result.Rules[name] = map[string]evidence.Counters{}
			}
			r.result.Rules[name][rule] = add(r.result.Rules[name][rule], sum)
		}
	}
}

func add(a, b evidence.Counters) evidence.Counters {
	return evidence.Counters{
		Allowed: a.Allowed + b.Allowed, Denied: a.Denied + b.Denied, ShadowAllowed: a.ShadowAllowed + b.ShadowAllowed, ShadowDenied: a.ShadowDenied + b.ShadowDenied,
	}
}

// checkCounters holds the counters against what the case states.
func (r *run) checkCounters() error {
	var errs []error
	for _, c := range r.result.Case.Counters {
		moved, of := r.result.Counters[c.Inbound], c.Inbound
		if r.isForeign() && !states(c, moved) {
			// Several filters count a request several times. Each was held against the log.
			moved = r.countFindings(c.Inbound)
		}
		if c.Rule != "" {
			if r.runner.AnyNames {
				r.result.Notes = append(r.result.Notes, fmt.Sprintf("not compared, because the names of rules are not: the stated counters of %s on %s", c.Rule, c.Inbound))
				continue
			}
			// A counter that no rule can move proves nothing.
			if known := origins(r.reading.Inbound(c.Inbound).Program.Program); !slices.Contains(known, c.Rule) {
				errs = append(errs, fmt.Errorf("the case states counters of the rule %q of %s, which has the rules %q", c.Rule, c.Inbound, known))
				continue
			}
			moved, of = r.result.Rules[c.Inbound][c.Rule], fmt.Sprintf("%s on %s", c.Rule, c.Inbound)
		}
		for _, counter := range stated(c, moved) {
			if counter.want != nil && *counter.want != counter.got {
				errs = append(errs, fmt.Errorf("the case wants %s of %s to move by %d, it moved by %d", counter.name, of, *counter.want, counter.got))
			}
		}
	}
	return errors.Join(errs...)
}

// counter is a counter of a case beside what it moved by. The case may not state it.
type counter struct {
	name string
	want *uint64
	got  uint64
}

func stated(c cases.Counters, moved evidence.Counters) [4]counter {
	return [4]counter{
		{"allowed", c.Allowed, moved.Allowed},
		{"denied", c.Denied, moved.Denied},
		{"shadow_allowed", c.ShadowAllowed, moved.ShadowAllowed},
		{"shadow_denied", c.ShadowDenied, moved.ShadowDenied},
	}
}

// states reports whether a case states what moved.
func states(c cases.Counters, moved evidence.Counters) bool {
	for _, counter := range stated(c, moved) {
		if counter.want != nil && *counter.want != counter.got {
			return false
		}
	}
	return true
}

// origins returns the names of all rules of a program on L7, in order and without the empty
// one: Envoy counts by these names.
func origins(p policy.Program) []string {
	var out []string
	add := func(v policy.Verdict) {
		if v.Origin != "" {
			out = append(out, v.Origin)
		}
	}
	var addRules func([]policy.Rule)
	addRules = func(rules []policy.Rule) {
		for _, rule := range rules {
			add(rule.Verdict)
			addRules(rule.Then)
		}
	}
	for _, gate := range slices.Concat(p.Gates, p.Shadows) {
		if gate.Layer == policy.L7 {
			addRules(gate.Rules)
			add(gate.Default)
		}
	}
	for _, route := range p.Routes {
		out = append(out, origins(policy.Program{Gates: route.Gates, Shadows: route.Shadows})...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
