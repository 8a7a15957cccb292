package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/meshproof/meshproof/internal/terminal"
)

// Comparison is the difference of two runs. It leaves out times and keys.
type Comparison struct {
	A Side `json:"a"`
	B Side `json:"b"`
	// Common counts the cases that both runs have, and NotAsked those of them that neither run asked; OnlyA and
	// OnlyB name the others.
	Common   int      `json:"common"`
	NotAsked int      `json:"notAsked,omitempty"`
	OnlyA    []string `json:"onlyA,omitempty"`
	OnlyB    []string `json:"onlyB,omitempty"`
	// Changed has the differences of the common cases, in the order of the first run.
	Changed []Change `json:"changed,omitempty"`
	// LeftOut counts the cases whose decisions were not compared: a run lacks the case, or did not ask it.
	LeftOut int `json:"leftOut,omitempty"`
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
	// "shadow", "shadowBy", "want", "passed", "caller", "upstream", "xfcc", "log",
	// "peer", "route", "backend" or "limit" of a request, "asked" where only one run has the request, and "evidence"
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
		if c.Skipped != "" && other.Skipped != "" {
			out.NotAsked++
		}
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
	c.LeftOut = len(c.OnlyA) + len(c.OnlyB) + c.NotAsked
	c.Common, c.NotAsked = c.Common-c.NotAsked, 0
	for _, change := range c.Changed {
		if change.What == "status" && !change.isDecision() {
			c.LeftOut++
			c.Common--
		}
	}
	c.OnlyA, c.OnlyB = nil, nil
	c.Changed = slices.DeleteFunc(slices.Clone(c.Changed), func(change Change) bool { return !change.isDecision() })
	return c
}

func (c Change) isDecision() bool {
	switch c.What {
	case "outcome", "by", "shadow", "shadowBy", "route", "backend":
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

// Judge reports whether two reports are alike: cases were compared, and nothing differs. Unpaired are the runs without
// a counterpart. With decisions, these and whatever is no decision are left out, and so they are in the result.
func Judge(all []Comparison, unpaired []string, decisions bool) (judged []Comparison, alike bool) {
	judged, alike = slices.Clone(all), decisions || len(unpaired) == 0
	for i, c := range judged {
		if decisions {
			c = c.Decisions()
		}
		judged[i], alike = c, alike && c.Empty() && c.Common > c.NotAsked
	}
	return judged, alike
}

func byName(cases []Case) map[string]Case {
	out := make(map[string]Case, len(cases))
	for _, c := range cases {
		out[c.Case] = c
	}
	return out
}

// changeList collects the differences of a case in two runs.
type changeList struct {
	change Change
	list   []Change
}

func (d *changeList) add(what, a, b string) {
	if a == b {
		return
	}
	change := d.change
	change.What, change.A, change.B = what, a, b
	d.list = append(d.list, change)
}

// changes returns the differences of a case in two runs.
func changes(a, b Case) []Change {
	d := changeList{change: Change{Case: a.Case, Place: a.Place}}
	if a.Status() != b.Status() {
		d.add("status", a.statusText(), b.statusText())
	}
	d.add("error", cmp.Or(a.Error, "none"), cmp.Or(b.Error, "none"))
	d.requests(a, b)
	d.change.Request = ""
	inbounds := slices.AppendSeq(slices.Collect(maps.Keys(a.Counters)), maps.Keys(b.Counters))
	slices.Sort(inbounds)
	for _, inbound := range slices.Compact(inbounds) {
		d.add("counters of "+inbound, counters(a.Counters, inbound), counters(b.Counters, inbound))
	}
	if len(d.list) == 0 {
		d.add("evidence", short(a.EvidenceSHA256), short(b.EvidenceSHA256))
	}
	return d.list
}

func (d *changeList) requests(a, b Case) {
	if a.Asked() == 0 || b.Asked() == 0 {
		// One line is enough for a case that was not run.
		d.add("asked", terminal.Count(a.Asked(), "request"), terminal.Count(b.Asked(), "request"))
		return
	}
	inB := map[Asking]int{}
	for i, asked := range Askings(b) {
		inB[asked] = i
	}
	for i, asked := range Askings(a) {
		d.change.Request = asked.String()
		other, ok := inB[asked]
		if !ok {
			d.add("asked", "yes", "no")
			continue
		}
		delete(inB, asked)
		if asked.routed {
			d.routed(a.RoutedRequests[i-len(a.Requests)], b.RoutedRequests[other-len(b.Requests)])
			continue
		}
		d.request(a.Requests[i], b.Requests[other])
	}
	for _, asked := range Askings(b) {
		if _, left := inB[asked]; left {
			d.change.Request = asked.String()
			d.add("asked", "no", "yes")
		}
	}
}

func (d *changeList) routed(a, b RoutedRequest) {
	gotA, gotB := cmp.Or(a.Got, a.Outcome), cmp.Or(b.Got, b.Outcome)
	a, b = a.lasting(), b.lasting()
	d.add("want", a.Want, b.Want)
	d.add("passed", fmt.Sprint(a.Passed), fmt.Sprint(b.Passed))
	d.add("outcome", a.CauseText()+": "+gotA, b.CauseText()+": "+gotB)
	d.add("caller", a.Outcome, b.Outcome)
	d.add("route", cmp.Or(a.Route, "none"), cmp.Or(b.Route, "none"))
	d.add("backend", cmp.Or(a.Backend, strings.Join(a.Backends, " or "), "none"), cmp.Or(b.Backend, strings.Join(b.Backends, " or "), "none"))
	d.add("limit", a.By+" "+a.Place, b.By+" "+b.Place)
	d.add("by", cmp.Or(a.Verdict, "none"), cmp.Or(b.Verdict, "none"))
	d.add("log", a.Details, b.Details)
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
	return text + terminal.Count(a.Bytes, "byte")
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

// CompareAll compares the runs of two reports. A single run is compared with a single run.
// Of several runs, those of the same project, version of Envoy and runtime are compared.
// Unpaired names the runs without a counterpart, as a rule those of versions that were
// pinned in between. It is an error if no two runs belong together, or more than two.
func CompareAll(before, after []Run) (compared []Comparison, unpaired []string, err error) {
	if len(before) == 1 && len(after) == 1 {
		return []Comparison{Compare(before[0], after[0])}, nil, nil
	}
	old, err := byColumn(before)
	if err != nil {
		return nil, nil, err
	}
	if _, err := byColumn(after); err != nil {
		return nil, nil, err
	}
	for _, run := range after {
		counterpart, ok := old[run.column()]
		if !ok {
			unpaired = append(unpaired, "new: "+run.column())
			continue
		}
		delete(old, run.column())
		compared = append(compared, Compare(counterpart, run))
	}
	for _, run := range before {
		if _, left := old[run.column()]; left {
			unpaired = append(unpaired, "gone: "+run.column())
		}
	}
	if len(compared) == 0 {
		return nil, nil, errors.New("report: compare: no run of one side is of the same project, version of Envoy and runtime as one of the other: name a results file each")
	}
	return compared, unpaired, nil
}

// column is the same for runs of different days that are the same column of a matrix.
func (r Run) column() string {
	text := fmt.Sprintf("%s on Envoy %s (%s)", r.Implementation.Project, r.Envoy, r.Runtime)
	if r.Shard != "" {
		text += ", shard " + r.Shard
	}
	return text
}

func byColumn(runs []Run) (map[string]Run, error) {
	out := make(map[string]Run, len(runs))
	for _, run := range runs {
		if _, twice := out[run.column()]; twice {
			return nil, fmt.Errorf("report: compare: there are two runs of %s on one side: name the results file", run.column())
		}
		out[run.column()] = run
	}
	return out, nil
}

// Text returns the comparison for a terminal: a line for each run, a line with the number of
// cases that differ, and then the differences by case and request. The value of the first
// run stands before the arrow, the value of the second run behind it.
func (c Comparison) Text() string {
	var b strings.Builder
	for _, s := range []Side{c.A, c.B} {
		fmt.Fprintf(&b, "%s: %s in %s\n", Visible(s.Label), s.Tally, Seconds(s.Took))
	}
	fmt.Fprintf(&b, "%s\n", c.Sentence())
	var last Change
	for i, change := range c.Changed {
		if i == 0 || change.Case != last.Case {
			fmt.Fprintf(&b, "\n%s: %s\n", Visible(change.Place), Visible(change.Case))
			last.Request = ""
		}
		indent := "  "
		if change.Request != "" {
			if change.Request != last.Request {
				fmt.Fprintf(&b, "  %s\n", Visible(change.Request))
			}
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%-8s  %s → %s\n", indent, Visible(change.What), Visible(change.A), Visible(change.B))
		last = change
	}
	writeOnly(&b, c.A.Label, c.OnlyA)
	writeOnly(&b, c.B.Label, c.OnlyB)
	return b.String()
}

func writeOnly(b *strings.Builder, label string, cases []string) {
	if len(cases) == 0 {
		return
	}
	fmt.Fprintf(b, "\nonly in %s:\n", Visible(label))
	for _, name := range cases {
		fmt.Fprintf(b, "  %s\n", Visible(name))
	}
}

// Sentence says how many cases differ.
func (c Comparison) Sentence() string {
	leftOut := ""
	if c.LeftOut > 0 {
		leftOut = "; not compared, because one run lacks the case or did not ask it: " + terminal.Number(c.LeftOut)
	}
	switch {
	case c.Empty() && c.Common == 0:
		return "nothing was compared: no case was asked in both runs" + leftOut
	case c.Empty():
		return fmt.Sprintf("no difference in %s", terminal.Count(c.Common, "case")) + leftOut
	}
	changed := map[string]bool{}
	for _, change := range c.Changed {
		changed[change.Case] = true
	}
	text := fmt.Sprintf("%s of %s in common differ", terminal.Number(len(changed)), terminal.Count(c.Common, "case"))
	if n := len(c.OnlyA) + len(c.OnlyB); n > 0 {
		text += fmt.Sprintf("; in one run only: %d", n)
	}
	return text + leftOut
}

// Visible makes one line of a text, with escapes for the characters that could change a
// terminal or a page: control characters, and marks that turn the direction of writing.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
