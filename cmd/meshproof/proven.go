package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// proven is what prove prints of one case.
type proven struct {
	name    string
	verdict proof.Verdict
	result  result.Case
}

// provenAll is what prove prints.
type provenAll struct {
	envoy, runtime  string
	all             []proven
	counterexamples []shrunkCase
}

func (p *provenAll) add(name string, v proof.Verdict, r result.Case) {
	p.all = append(p.all, proven{name, v, r})
}

func (p *provenAll) holds() bool {
	return !slices.ContainsFunc(p.all, func(one proven) bool { return !one.verdict.Holds() })
}

func (p *provenAll) exit() error {
	switch {
	case slices.ContainsFunc(p.all, func(one proven) bool { return one.result.Fault }):
		return &exitError{code: exitMachine}
	case !p.holds():
		return &exitError{code: exitDiffers}
	default:
		return nil
	}
}

// classes counts over all cases.
func (p *provenAll) classes() *report.Classes {
	out := &report.Classes{Complete: true}
	for _, one := range p.all {
		proven, of := one.verdict.Counts()
		out.Proven += proven
		out.Of += of
		out.Complete = out.Complete && one.verdict.Complete()
	}
	return out
}

// sentence is what it all comes to.
func (p *provenAll) sentence() string {
	c := p.classes()
	text := proof.Sentence(c.Proven, c.Of, c.Complete, p.envoy)
	unasked := 0
	for _, one := range p.all {
		unasked += one.verdict.Unasked()
	}
	if unasked > 0 {
		text += fmt.Sprintf("; nobody asked for %d of them", unasked)
	}
	return text
}

func (p *provenAll) writeText(w io.Writer, paint terminal.Paint) {
	for _, one := range p.all {
		one.writeText(w, paint, p.envoy)
	}
	for _, c := range p.counterexamples {
		c.write(w, paint)
	}
	fmt.Fprintf(w, "%s %s (%s)\n", paint.Mark(p.holds()), p.sentence(), p.runtime)
}

func (one proven) writeText(w io.Writer, p terminal.Paint, envoy string) {
	fmt.Fprintf(w, "%s %s\n", p.Mark(one.verdict.Holds()), terminal.Printable(one.name))
	if err := one.verdict.Err; err != nil {
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintf(w, "  %s\n", p.Red(strings.TrimSpace(line)))
		}
	}
	for _, in := range one.verdict.Inbounds {
		writeInbound(w, p, in)
	}
	for _, warning := range one.result.Warnings {
		fmt.Fprintf(w, "  %s %s\n", p.Yellow("warning:"), warning)
	}
	shown := one.verdict.Disagreements[:min(len(one.verdict.Disagreements), mostDisagreements)]
	for _, q := range shown {
		one.result.WriteRequest(w, p, q)
	}
	if more := len(one.verdict.Disagreements) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %s more: see --output json, or --report\n", terminal.Count(more, "request"))
	}
	fmt.Fprintln(w)
}

// mostDisagreements is how many requests of a case are shown that were not decided as
// specified: they tend to have one cause.
const mostDisagreements = 5

// classMark is the sign of a class.
func classMark(p terminal.Paint, c proof.Class) string {
	if c.Requests == 0 {
		return "–"
	}
	return p.Mark(c.Proven)
}

func writeInbound(w io.Writer, p terminal.Paint, in proof.InboundVerdict) {
	fmt.Fprintf(w, "  %s (%s): %s, %s asked\n", in.Inbound, in.Inbound.Protocol, in.Inbound.Cover, terminal.Count(in.Requests, "request"))
	if !writeGrid(w, p, in) {
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
	for _, text := range unreachable(in) {
		fmt.Fprintf(w, "    unreachable: %s\n", terminal.Printable(text))
	}
}

// notes are what a report says of a proof beside its requests: the classes, the rules
// that never decide, and what no request meets.
func (one proven) notes() []string {
	var out []string
	for _, in := range one.verdict.Inbounds {
		name := in.Inbound.String()
		out = append(out, fmt.Sprintf("%s: %s", name, in.Inbound.Cover))
		for _, rule := range in.Rules {
			if rule.Dead() {
				out = append(out, name+": never decides: "+deadText(rule))
			}
		}
		for _, text := range unreachable(in) {
			out = append(out, name+": unreachable: "+text)
		}
	}
	return out
}

func deadText(r proof.Rule) string { return terminal.Abridge(r.String()) + hiddenBy(r) }

// unreachable are the matchers that no request meets, with the reason.
func unreachable(in proof.InboundVerdict) []string {
	var out []string
	for _, d := range in.Inbound.Cover.Dimensions {
		for _, u := range d.Unreachable {
			out = append(out, fmt.Sprintf("%s: %v", u.Cell, u.Reason))
		}
	}
	return out
}

func hiddenBy(r proof.Rule) string {
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

// mostColumns is how wide a truth table may be on a terminal.
const mostColumns = 6

// writeGrid prints callers × requests, unless there are too many requests, or rules
// that look at one of the two only.
func writeGrid(w io.Writer, p terminal.Paint, in proof.InboundVerdict) bool {
	grid := in.Grid()
	if len(grid.Requests) < 2 || len(grid.Requests) > mostColumns {
		return false
	}
	table := terminal.Table{append([]string{"caller"}, printables(grid.Requests)...)}
	for i, caller := range grid.Callers {
		row := []string{terminal.Printable(caller)}
		for _, cell := range grid.Cells[i] {
			row = append(row, cellText(p, cell))
		}
		table = append(table, row)
	}
	for _, line := range table.Lines() {
		fmt.Fprintf(w, "    %s\n", line)
	}
	return true
}

func printables(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = terminal.Printable(s)
	}
	return out
}

// cellText is a decision with its origin, and the shadow where it says otherwise.
func cellText(p terminal.Paint, c proof.Cell) string {
	text := c.Decision.Verdict.String()
	if c.Decision.Shadowed && c.Decision.Shadow.Effect != c.Decision.Effect {
		text += ", shadow " + c.Decision.Shadow.String()
	}
	switch {
	case !c.Asked:
		return "– " + text
	case !c.Proven:
		return p.Red("✗ " + text)
	default:
		return "✓ " + text
	}
}
