package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// kindSigns stand before a change.
var kindSigns = map[proof.Kind]string{proof.Widened: "+", proof.Narrowed: "-", proof.ShadowChanged: "~", proof.OriginChanged: "="}

func (d *difference) writeText(w io.Writer, p terminal.Paint) {
	for _, name := range d.onlyOld {
		fmt.Fprintf(w, "only in OLD: %s\n", terminal.Printable(name))
	}
	for _, name := range d.onlyNew {
		fmt.Fprintf(w, "%s: %s\n", p.Red("only in NEW"), terminal.Printable(name))
	}
	for _, one := range d.all {
		for _, in := range one.inbounds {
			fmt.Fprintf(w, "%s: inbound %s\n", terminal.Printable(one.subject()), terminal.Printable(in.text))
		}
		asked := 0
		for _, found := range one.found {
			if len(found.Changes) == 0 {
				continue
			}
			fmt.Fprintf(w, "%s, %s (%s): %s\n", terminal.Printable(one.subject()), found.Inbound, found.Inbound.Protocol, found.Cover)
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
	fmt.Fprintln(w, d.sentence())
}

// shown are the two results of the n-th change, nil where no Envoy was asked.
func (c compared) shown(n int) []result.Request {
	if c.before == nil || n >= len(c.before.Requests) || n >= len(c.after.Requests) {
		return nil
	}
	return []result.Request{c.before.Requests[n], c.after.Requests[n]}
}

func writeChange(w io.Writer, p terminal.Paint, c proof.Change, shown []result.Request) {
	sign := kindSigns[c.Kind()]
	if c.Kind() == proof.Widened {
		sign = p.Red(sign)
	}
	fmt.Fprintf(w, "  %s %s: %s\n", sign, c.Kind(), terminal.Printable(c.Text))
	fmt.Fprintf(w, "      request  %s\n", terminal.Printable(witnessText(c)))
	for i, side := range []struct {
		name    string
		opinion proof.Opinion
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

// errors are why a case as a whole could not be shown.
func (c compared) errors() []string {
	var out []string
	for _, r := range []*result.Case{c.before, c.after} {
		if r != nil && r.Err != nil {
			out = append(out, r.Case.Name+": "+r.Err.Error())
		}
	}
	return out
}

// shadowChanges reports whether the shadow changes, be it by who decides it alone.
func shadowChanges(c proof.Change) bool {
	was, is := c.Old.Decision, c.New.Decision
	return was.Shadowed != is.Shadowed || was.Shadow != is.Shadow
}

func witnessText(c proof.Change) string {
	words := []string{c.Request.To}
	if c.Witness.Path != "" {
		words = append(words, c.Witness.Method, c.Witness.Path)
	}
	return strings.Join(append(words, "as", c.Request.From.Name), " ")
}
