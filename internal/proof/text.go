package proof

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

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
		text = "--strict, and " + terminal.Count(n, "warning") + ", see above; " + text
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
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "%s %s\n", p.Yellow("warning:"), terminal.Printable(text))
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
	if why := verdict.Unstated(in.Inbound.Inbound.Inbound, in.Inbound.Inbound.Program); why != "" {
		out = append(out, classes.Unreachable{Cell: "each caller in plaintext", Reason: errors.New(why)})
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
