package diff

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// kindSigns stand before a change.
var kindSigns = map[Kind]string{Widened: "+", Narrowed: "-", ShadowChanged: "~", OriginChanged: "="}

// WriteText prints all changes, what was not compared, and a sentence.
func (d *Difference) WriteText(w io.Writer, p terminal.Paint) {
	for _, name := range d.OnlyOld {
		fmt.Fprintf(w, "only in OLD: %s\n", terminal.Printable(name))
	}
	for _, name := range d.OnlyNew {
		fmt.Fprintf(w, "%s: %s\n", p.Red("only in NEW"), terminal.Printable(name))
	}
	for _, one := range d.Cases {
		for _, in := range one.Inbounds {
			fmt.Fprintf(w, "%s: inbound %s\n", terminal.Printable(one.New.Name), terminal.Printable(in.Text))
		}
		asked := 0
		for _, found := range one.Comparisons {
			if len(found.Changes) == 0 {
				continue
			}
			fmt.Fprintf(w, "%s, %s (%s): %s\n", terminal.Printable(one.New.Name), found.Inbound, found.Inbound.Protocol, found.Cover)
			for _, change := range found.Changes {
				writeChange(w, p, change, one.shown(asked))
				asked++
			}
			fmt.Fprintln(w)
		}
		for _, err := range one.errors() {
			fmt.Fprintf(w, "%s %s\n", p.Mark(false), p.Red(terminal.Printable(err)))
		}
	}
	fmt.Fprintln(w, d.Sentence())
}

// shown are the two results of the n-th change, nil where no Envoy was asked.
func (c Case) shown(n int) []result.Request {
	if c.Before == nil || n >= len(c.Before.Requests) || n >= len(c.After.Requests) {
		return nil
	}
	return []result.Request{c.Before.Requests[n], c.After.Requests[n]}
}

func writeChange(w io.Writer, p terminal.Paint, c Change, shown []result.Request) {
	sign := kindSigns[c.Kind()]
	if c.Kind() == Widened {
		sign = p.Red(sign)
	}
	fmt.Fprintf(w, "  %s %s: %s\n", sign, c.Kind(), terminal.Printable(c.Text))
	fmt.Fprintf(w, "      request  %s\n", terminal.Printable(witnessText(c)))
	for i, side := range []struct {
		name    string
		opinion Opinion
	}{{"old", c.Old}, {"new", c.New}} {
		mark := ""
		if shown != nil {
			mark = p.Mark(len(shown[i].Problems) == 0) + " "
		}
		fmt.Fprintf(w, "      %s      %s%s\n", side.name, mark, terminal.Printable(cmp.Or(side.opinion.Reason, side.opinion.Decision.Verdict.String()+": no policy applies")))
		if shadowChanges(c) {
			fmt.Fprintf(w, "               shadow %s\n", terminal.Printable(cmp.Or(side.opinion.ShadowReason, "none")))
		}
		if shown != nil {
			for _, problem := range shown[i].ProblemTexts() {
				fmt.Fprintf(w, "               %s\n", p.Red(problem))
			}
		}
	}
}

// errors returns why the case as a whole could not be shown.
func (c Case) errors() []string {
	var out []string
	for _, r := range []*result.Case{c.Before, c.After} {
		if r != nil && r.Err != nil {
			out = append(out, r.Case.Name+": "+r.Err.Error())
		}
	}
	return out
}

// shadowChanges reports whether the shadow changes, be it by who decides it alone.
func shadowChanges(c Change) bool {
	was, is := c.Old.Decision, c.New.Decision
	return was.Shadowed != is.Shadowed || was.Shadow != is.Shadow
}

func witnessText(c Change) string {
	words := []string{c.Request.To}
	if c.Witness.Path != "" {
		words = append(words, c.Witness.Method, c.Witness.Path)
	}
	return strings.Join(append(words, "as", c.Request.From.Name), " ")
}
