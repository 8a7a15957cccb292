package proof

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Report is what became of several proofs.
type Report struct {
	// Envoy is the version that was asked, Runtime how it was run.
	Envoy, Runtime  string
	Cases           []Proven
	Counterexamples []counterexample.Counterexample
	// Unasked are the policies that select nothing that can exist, with the reason. Nothing
	// is proven of them.
	Unasked []string
	// Made says of the callers that were made who they are.
	Made []string
	// Truncated says that there are more inbounds to make for policies than were made.
	Truncated bool
	// Assumed says which inbound is asked because no file describes one; "" for none.
	Assumed string
	// LeftOut counts the documents beside the policies that are not read; "" for none.
	LeftOut string
	// Strict says that a warning is a failure.
	Strict bool
	// Routes are the proofs of what workloads send; nil where nothing is said about that.
	Routes *routeproof.Report
	// Known are the known answers; nil where they were not checked.
	Known *KnownAnswers
}

// Proven is what became of one proof.
type Proven struct {
	Verdict
	Result result.Case
	// Stated is what became of the case's own requests; nil where it has none.
	Stated *result.Case
}

// Add judges a proof by the result of its case.
func (r *Report) Add(p *Proof, of result.Case) {
	p.explain(of, false)
	r.Cases = append(r.Cases, Proven{Verdict: p.Judge(of), Result: of})
}

// Readings returns what has to be run for the proofs: their cases, and then the cases with
// own requests.
func Readings(proofs []*Proof) []*verdict.Reading {
	var out, own []*verdict.Reading
	for _, p := range proofs {
		out = append(out, p.Reading)
		if p.Stated != nil {
			own = append(own, p.Stated)
		}
	}
	return append(out, own...)
}

// AddAll judges proofs by the results of [Readings].
func (r *Report) AddAll(proofs []*Proof, results []result.Case) {
	own := results[len(proofs):]
	for i, p := range proofs {
		r.Add(p, results[i])
		if p.Stated != nil {
			p.explain(own[0], true)
			r.Cases[len(r.Cases)-1].Stated, own = &own[0], own[1:]
		}
	}
}

func (p *Proof) explain(of result.Case, named bool) {
	if p.Explain != nil {
		of.Explain(func(q result.Request) string { return p.Explain(of.Case, q.Request, named) })
	}
}

// Holds reports whether everything was decided as specified, and as the case wants of its
// own requests.
func (one Proven) Holds() bool {
	return one.Verdict.Holds() && (one.Stated == nil || !one.Stated.Failed())
}

// Holds reports whether everything was asked, and decided as specified.
func (r *Report) Holds() bool {
	if r.Routes != nil && !r.Routes.Holds() {
		return false
	}
	return (len(r.Cases) > 0 || r.Routes != nil) && len(r.Unasked) == 0 && !r.Truncated && !(r.Strict && r.warnings() > 0) && (r.Known == nil || len(r.Known.Wrong) == 0) && !slices.ContainsFunc(r.Cases, func(p Proven) bool { return !p.Holds() })
}

// warnings counts the warnings of all cases.
func (r *Report) warnings() int {
	n := 0
	for _, p := range r.Cases {
		n += len(p.Result.Warnings)
	}
	return n
}

// failedOwn counts the cases whose own requests are not decided as wanted.
func (r *Report) failedOwn() int {
	n := 0
	for _, p := range r.Cases {
		if p.Stated != nil && p.Stated.Failed() {
			n++
		}
	}
	return n
}

// made counts the inbounds that were made.
func (r *Report) made() int {
	n := 0
	for _, p := range r.Cases {
		for _, in := range p.Inbounds {
			if in.Inbound.Made != "" {
				n++
			}
		}
	}
	return n
}

// Fault reports whether Envoy or the machine failed.
func (r *Report) Fault() bool {
	if r.Routes != nil && r.Routes.Fault() {
		return true
	}
	return slices.ContainsFunc(r.Cases, func(p Proven) bool { return p.Result.Fault || p.Stated != nil && p.Stated.Fault })
}

// Classes counts the classes of all cases.
func (r *Report) Classes() *report.Classes {
	out := &report.Classes{Complete: true}
	for _, p := range r.Cases {
		proven, of := p.Counts()
		out.Proven += proven
		out.Of += of
		out.Complete = out.Complete && p.Complete()
	}
	return out
}

// AddTo adds the proofs to a run, each as a case with its notes, and the count of their classes.
func (r *Report) AddTo(run *report.Run, build func(result.Case) report.Case) {
	run.ClassesProven = r.Classes()
	for _, one := range r.Cases {
		c := build(one.Result)
		c.Notes = append(c.Notes, one.Notes()...)
		run.Add(c)
	}
	if r.Routes == nil {
		return
	}
	proven, of, complete := r.Routes.Counts()
	run.ClassesProven.Proven, run.ClassesProven.Of, run.ClassesProven.Complete = run.ClassesProven.Proven+proven, run.ClassesProven.Of+of, run.ClassesProven.Complete && complete
	for _, v := range r.Routes.Verdicts {
		c := build(v.Result)
		c.Notes = append(c.Notes, v.Notes()...)
		run.Add(c)
	}
}

// Suspects returns what was not decided as specified, for [counterexample.Finder].
func (r *Report) Suspects() []counterexample.Suspect {
	var out []counterexample.Suspect
	for _, p := range r.Cases {
		out = append(out, counterexample.Suspect{Case: p.Result.Case, Requests: p.Disagreements})
	}
	if r.Routes != nil {
		for _, v := range r.Routes.Verdicts {
			out = append(out, counterexample.Suspect{Case: v.Result.Case, RoutedRequests: v.Wrong()})
		}
	}
	return out
}

// Sentence says in one what was proven.
func (r *Report) Sentence() string {
	c := r.Classes()
	text := Sentence(c.Proven, c.Of, c.Complete, r.Envoy)
	unasked := 0
	for _, p := range r.Cases {
		unasked += p.Unasked()
	}
	if unasked > 0 {
		text += fmt.Sprintf("; %d of them were not asked for", unasked)
	}
	if n := r.failedOwn(); n > 0 {
		text += "; the own requests of " + terminal.Count(n, "case") + " are not decided as wanted, see above"
	}
	if n := r.made(); n > 0 {
		text += "; " + terminal.Count(n, "inbound") + " made, see above"
	}
	if n := len(r.Unasked); n > 0 {
		text += "; " + terminal.Plural(n, "policy", "policies") + " not asked, see above"
	}
	if r.Truncated {
		text += "; sampled: not each two policies that may select one workload were asked together, there are too many"
	}
	if r.Routes != nil && !r.Routes.Holds() {
		text += "; not so the requests to outbounds, see above"
	}
	if r.LeftOut != "" {
		text += "; left out, not read: " + r.LeftOut
	}
	if n := r.warnings(); r.Strict && n > 0 {
		text += "; " + terminal.Count(n, "warning") + ", see above"
	}
	return text
}

// WriteText prints each proof, the counterexamples, and a sentence.
func (r *Report) WriteText(w io.Writer, p terminal.Paint) {
	for _, one := range r.Cases {
		one.WriteText(w, p)
	}
	for _, c := range r.Counterexamples {
		c.WriteText(w, p)
	}
	if r.Assumed != "" {
		fmt.Fprintf(w, "assumed: %s\n", terminal.Printable(r.Assumed))
	}
	for _, text := range r.Made {
		fmt.Fprintf(w, "made: %s\n", terminal.Printable(text))
	}
	for _, text := range r.Unasked {
		fmt.Fprintf(w, "%s not asked: %s\n", p.Mark(false), terminal.Printable(text))
	}
	holds := r.Holds()
	if r.Routes != nil {
		r.Routes.WriteText(w, p)
	}
	if len(r.Cases) > 0 {
		fmt.Fprintf(w, "%s %s (%s)\n", p.Mark(holds), r.Sentence(), r.Runtime)
	} else if r.Routes == nil {
		fmt.Fprintf(w, "%s nothing was asked: no document describes an inbound, or a service that a workload sends to\n", p.Mark(false))
	}
	if r.Known != nil {
		r.Known.writeText(w, p)
	}
}

// WriteText prints the classes of each inbound, and the first requests that were not
// decided as specified.
func (one Proven) WriteText(w io.Writer, p terminal.Paint) {
	fmt.Fprintf(w, "%s %s\n", p.Mark(one.Holds()), terminal.Printable(one.Result.Case.Name))
	if err := one.Err; err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(w, "  %s\n", p.Red(strings.TrimSpace(line)))
		}
	}
	for _, in := range one.Inbounds {
		in.writeText(w, p)
	}
	for _, warning := range one.Result.Warnings {
		fmt.Fprintf(w, "  %s %s\n", p.Yellow("warning:"), warning)
	}
	for _, note := range one.Result.Notes {
		fmt.Fprintf(w, "  note: %s\n", terminal.Printable(note))
	}
	writeWrong(w, p, one.Result, one.Disagreements)
	one.writeOwn(w, p)
	fmt.Fprintln(w)
}

// writeWrong prints the first requests that were not decided as specified.
func writeWrong(w io.Writer, p terminal.Paint, of result.Case, wrong []result.Request) {
	shown := wrong[:min(len(wrong), mostDisagreements)]
	for _, q := range shown {
		of.WriteRequest(w, p, q)
	}
	if more := len(wrong) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %s more: see --output json, or --report\n", terminal.Count(more, "request"))
	}
}

// writeOwn prints what became of the case's own requests.
func (one Proven) writeOwn(w io.Writer, p terminal.Paint) {
	switch own := one.Stated; {
	case own == nil:
	case own.Skipped != "":
		fmt.Fprintf(w, "  own requests: skipped, %s\n", terminal.Printable(own.Skipped))
	default:
		wrong := wrongOf(own)
		fmt.Fprintf(w, "  own requests: %s %d of %d as the case wants\n", p.Mark(own.Passed()), len(own.Requests)-len(wrong), len(own.Case.Requests))
		if own.Err != nil {
			for line := range strings.Lines(own.Err.Error()) {
				fmt.Fprintf(w, "  %s\n", p.Red(strings.TrimSpace(line)))
			}
		}
		writeWrong(w, p, *own, wrong)
	}
}

func wrongOf(r *result.Case) []result.Request {
	return slices.DeleteFunc(slices.Clone(r.Requests), func(q result.Request) bool { return len(q.Problems) == 0 })
}

// mostDisagreements is how many wrong requests of a case are printed. They tend to have one
// cause.
const mostDisagreements = 5

// classMark is the sign of a class.
func classMark(p terminal.Paint, c Class) string {
	if c.Requests == 0 {
		return "–"
	}
	return p.Mark(c.Proven)
}

func (in InboundVerdict) writeText(w io.Writer, p terminal.Paint) {
	fmt.Fprintf(w, "  %s (%s): %s, %s asked\n", in.Inbound, in.Inbound.Protocol, in.Inbound.Cover, terminal.Count(in.Requests, "request"))
	if made := in.Inbound.Made; made != "" {
		fmt.Fprintf(w, "    made: %s\n", terminal.Printable(made))
	}
	if !in.writeGrid(w, p) {
		table := terminal.Table{{"decision", "shadow", "requests"}}
		for _, c := range in.Classes {
			table = append(table, []string{c.Decision.Verdict.String(), shadowText(c.Decision), terminal.Printable(c.Text)})
		}
		for i, line := range table.Lines() {
			sign := " "
			if i > 0 {
				sign = classMark(p, in.Classes[i-1])
			}
			fmt.Fprintf(w, "    %s %s\n", sign, line)
		}
	}
	for _, rule := range in.Rules {
		if rule.Dead() {
			fmt.Fprintf(w, "    %s %s\n", p.Yellow("never decides:"), terminal.Printable(deadText(rule)))
		}
	}
	for _, text := range texts(in.unreachable()) {
		fmt.Fprintf(w, "    unreachable: %s\n", terminal.Printable(text))
	}
}

// Notes are what a report says of a proof beside its requests: the classes, the rules
// that never decide, and the matchers that no request meets.
func (one Proven) Notes() []string {
	var out []string
	for _, in := range one.Inbounds {
		name := in.Inbound.String()
		out = append(out, fmt.Sprintf("%s: %s", name, in.Inbound.Cover))
		if made := in.Inbound.Made; made != "" {
			out = append(out, "made: "+made)
		}
		for _, rule := range in.Rules {
			if rule.Dead() {
				out = append(out, name+": never decides: "+deadText(rule))
			}
		}
		for _, text := range texts(in.unreachable()) {
			out = append(out, name+": unreachable: "+text)
		}
	}
	return out
}

func deadText(r Rule) string { return terminal.Abridge(r.String()) + hiddenBy(r) }

// plaintextOnly is why the policies decide about no caller with a name.
var plaintextOnly = classes.Unreachable{
	Cell: "each caller with a name", Reason: errors.New("the inbound takes plaintext alone, and what the table says of a name is what the policies say: the handshake fails"),
}

// unreachable returns the matchers that no request meets, and the callers that no policy is asked about, with
// the reason.
func (in InboundVerdict) unreachable() (out []classes.Unreachable) {
	for _, d := range in.Inbound.Cover.Dimensions {
		out = append(out, d.Unreachable...)
	}
	if in.Inbound.MTLS == mtls.Disable && len(in.Classes) > 1 {
		out = append(out, plaintextOnly)
	}
	return out
}

// texts are one line each.
func texts(unreachable []classes.Unreachable) (out []string) {
	for _, u := range unreachable {
		out = append(out, fmt.Sprintf("%s: %v", u.Cell, u.Reason))
	}
	return out
}

func hiddenBy(r Rule) string {
	switch {
	case len(r.HiddenBy) > 0:
		return ": " + terminal.Abridge(r.HiddenBy[0]) + " decides before"
	case r.Met == 0:
		return ": no request meets it"
	default:
		return ""
	}
}

func shadowText(d policy.Decision) string {
	if !d.Shadowed {
		return "-"
	}
	return d.Shadow.String()
}
