package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Comparison is the difference of two runs. It leaves out times and keys.
type Comparison struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Common counts the cases that both runs have; OnlyA and OnlyB name the others.
	Common int      `json:"common"`
	OnlyA  []string `json:"onlyA,omitempty"`
	OnlyB  []string `json:"onlyB,omitempty"`
	// Changed has the differences of the common cases, in the order of the first run.
	Changed []Change `json:"changed,omitempty"`
}

// Side is one of the two runs.
type Side struct {
	Label string        `json:"label"`
	Tally Tally         `json:"tally"`
	Took  time.Duration `json:"nanoseconds"`
}

// Change is one difference of two runs.
type Change struct {
	Case  string `json:"case"`
	Place string `json:"place"`
	// Request names inbound, request and caller. It is "" for the case as a whole.
	Request string `json:"request,omitempty"`
	// What differs: "status", "error" or "counters of ..." of a case, "outcome", "by",
	// "shadow", "shadowBy", "want", "passed", "caller", "upstream", "xfcc", "log" or
	// "peer" of a request, "asked" where only one run has the request, and "evidence"
	// where nothing but the order of requests explains that its hashes differ.
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Compare compares the status of each case, and the evidence of each request. The result is
// empty exactly if both runs have the same cases, with the same status and the same
// evidence.
func Compare(a, b Run) Comparison {
	labels := Labels([]Run{a, b})
	out := Comparison{
		A: Side{labels[0], Count(a.Cases), Took(a.Milliseconds)},
		B: Side{labels[1], Count(b.Cases), Took(b.Milliseconds)},
	}
	inA, inB := byName(a.Cases), byName(b.Cases)
	for _, c := range a.Cases {
		other, ok := inB[c.Case]
		if !ok {
			out.OnlyA = append(out.OnlyA, c.Case)
			continue
		}
		out.Common++
		out.Changed = append(out.Changed, changes(c, other)...)
	}
	for _, c := range b.Cases {
		if _, ok := inA[c.Case]; !ok {
			out.OnlyB = append(out.OnlyB, c.Case)
		}
	}
	return out
}

// Decisions returns the differences in decisions, in cases that both runs have: the outcome
// of a request, the policy that decided, the shadow and its policy, and a case that passed
// in one run and failed in the other.
func (c Comparison) Decisions() Comparison {
	c.OnlyA, c.OnlyB = nil, nil
	c.Changed = slices.DeleteFunc(slices.Clone(c.Changed), func(change Change) bool { return !change.isDecision() })
	return c
}

func (c Change) isDecision() bool {
	switch c.What {
	case "outcome", "by", "shadow", "shadowBy":
		return true
	case "status":
		a, _, _ := strings.Cut(c.A, ":")
		b, _, _ := strings.Cut(c.B, ":")
		return a == passed && b == failed || a == failed && b == passed
	default:
		return false
	}
}

// Empty reports whether there is no difference.
func (c Comparison) Empty() bool { return len(c.OnlyA)+len(c.OnlyB)+len(c.Changed) == 0 }

func byName(cases []Case) map[string]Case {
	out := make(map[string]Case, len(cases))
	for _, c := range cases {
		out[c.Case] = c
	}
	return out
}

// changeList collects the differences of a case in two runs.
type changeList struct {
	at  Change
	out []Change
}

func (d *changeList) add(what, a, b string) {
	if a == b {
		return
	}
	change := d.at
	change.What, change.A, change.B = what, a, b
	d.out = append(d.out, change)
}

// changes returns the differences of a case in two runs.
func changes(a, b Case) []Change {
	d := changeList{at: Change{Case: a.Case, Place: a.Place}}
	if a.Status() != b.Status() {
		d.add("status", a.statusText(), b.statusText())
	}
	d.add("error", cmp.Or(a.Error, "none"), cmp.Or(b.Error, "none"))
	d.requests(a, b)
	d.at.Request = ""
	for _, inbound := range slices.Sorted(maps.Keys(union(a.Counters, b.Counters))) {
		d.add("counters of "+inbound, counters(a.Counters, inbound), counters(b.Counters, inbound))
	}
	if len(d.out) == 0 {
		d.add("evidence", short(a.EvidenceSHA256), short(b.EvidenceSHA256))
	}
	return d.out
}

func (d *changeList) requests(a, b Case) {
	if len(a.Requests) == 0 || len(b.Requests) == 0 {
		// One line is enough for a case that was not run.
		d.add("asked", Plural(len(a.Requests), "request"), Plural(len(b.Requests), "request"))
		return
	}
	inB := map[Asking]Request{}
	for i, asked := range Askings(b) {
		inB[asked] = b.Requests[i]
	}
	for i, asked := range Askings(a) {
		d.at.Request = asked.String()
		other, ok := inB[asked]
		if !ok {
			d.add("asked", "yes", "no")
			continue
		}
		delete(inB, asked)
		d.request(a.Requests[i], other)
	}
	for _, asked := range Askings(b) {
		if _, left := inB[asked]; left {
			d.at.Request = asked.String()
			d.add("asked", "no", "yes")
		}
	}
}

func (d *changeList) request(a, b Request) {
	d.add("want", a.Want, b.Want)
	d.add("passed", fmt.Sprint(a.Passed), fmt.Sprint(b.Passed))
	d.add("outcome", a.Outcome, b.Outcome)
	d.add("by", cmp.Or(a.By, "none"), cmp.Or(b.By, "none"))
	d.add("shadow", a.Shadow, b.Shadow)
	d.add("shadowBy", cmp.Or(a.ShadowBy, "none"), cmp.Or(b.ShadowBy, "none"))
	d.add("caller", a.Evidence.Caller, b.Evidence.Caller)
	d.add("upstream", a.Evidence.Upstream.String(), b.Evidence.Upstream.String())
	d.add("xfcc", a.Evidence.Upstream.xfcc(), b.Evidence.Upstream.xfcc())
	d.add("log", a.Evidence.Log, b.Evidence.Log)
	d.add("peer", strings.Join(a.Evidence.Peer, ", "), strings.Join(b.Evidence.Peer, ", "))
}

// String says what reached the upstream, "nothing" for nil.
func (a *Arrived) String() string {
	if a == nil {
		return "nothing"
	}
	text := strings.TrimSpace(a.Method + " " + a.Path)
	if text != "" {
		text += ", "
	}
	return text + Plural(a.Bytes, "byte")
}

// xfcc returns the XFCC header without the hash of the certificate, "none" where there is none.
func (a *Arrived) xfcc() string {
	if a == nil || a.XFCC == "" {
		return "none"
	}
	return withoutKey(a.XFCC)
}

func counters(of map[string]Counters, inbound string) string {
	c, ok := of[inbound]
	if !ok {
		return "none"
	}
	return fmt.Sprintf("allowed %d, denied %d, shadow_allowed %d, shadow_denied %d", c.Allowed, c.Denied, c.ShadowAllowed, c.ShadowDenied)
}

func union[V any](a, b map[string]V) map[string]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]V{}
	}
	maps.Copy(out, b)
	return out
}

func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
