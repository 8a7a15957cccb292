package proof

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
)

// WriteText prints each proof, the counterexamples, and a sentence.
func (r *Report) WriteText(w io.Writer, p terminal.Paint) {
	for _, one := range r.Cases {
		one.WriteText(w, p)
	}
	for _, c := range r.Counterexamples {
		c.WriteText(w, p)
	}
	fmt.Fprintf(w, "%s %s (%s)\n", p.Mark(r.Holds()), r.Sentence(), r.Runtime)
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
	shown := one.Disagreements[:min(len(one.Disagreements), mostDisagreements)]
	for _, q := range shown {
		one.Result.WriteRequest(w, p, q)
	}
	if more := len(one.Disagreements) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %s more: see --output json, or --report\n", terminal.Count(more, "request"))
	}
	fmt.Fprintln(w)
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
	for _, text := range in.unreachable() {
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
		for _, rule := range in.Rules {
			if rule.Dead() {
				out = append(out, name+": never decides: "+deadText(rule))
			}
		}
		for _, text := range in.unreachable() {
			out = append(out, name+": unreachable: "+text)
		}
	}
	return out
}

func deadText(r Rule) string { return terminal.Abridge(r.String()) + hiddenBy(r) }

// unreachable returns the matchers that no request meets, with the reason.
func (in InboundVerdict) unreachable() []string {
	var out []string
	for _, d := range in.Inbound.Cover.Dimensions {
		for _, u := range d.Unreachable {
			out = append(out, fmt.Sprintf("%s: %v", u.Cell, u.Reason))
		}
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

// mostColumns is how wide a truth table may be on a terminal.
const mostColumns = 6

// writeGrid prints callers × requests, and reports whether it did. It prints nothing where
// there are too many requests, or a single one.
func (in InboundVerdict) writeGrid(w io.Writer, p terminal.Paint) bool {
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
	table.Write(w, "    ")
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
func cellText(p terminal.Paint, c Cell) string {
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
