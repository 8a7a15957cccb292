package diff

import (
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Sentence says in one sentence what changes, and what Envoy says about it.
func (d *Difference) Sentence() string {
	if len(d.Cases) == 0 && d.Routes != nil {
		return d.Routes.Sentence()
	}
	classes, cover := terminal.Plural(d.classes(), "class", "classes"), "; cover sampled"
	if len(d.sampled()) == 0 {
		cover = "; cover complete"
	}
	var text string
	if d.Changes() == 0 {
		of := "requests"
		if d.Routes != nil {
			of = "requests to inbounds"
		}
		text = fmt.Sprintf("nothing changes in %s of %s%s", classes, of, cover)
	} else {
		counts := d.counts()
		text = fmt.Sprintf("%d of %s of requests change: access widens in %d, narrows in %d, the shadow changes in %d, the deciding policy in %d%s",
			d.Changes(), classes, counts[Widened], counts[Narrowed], counts[ShadowChanged], counts[OriginChanged], cover)
	}
	if slices.ContainsFunc(d.Cases, func(c Case) bool { return len(c.Inbounds) > 0 }) {
		text += "; the inbounds change, see above"
	}
	if n := len(d.OnlyOld) + len(d.OnlyNew); n > 0 {
		text += "; " + terminal.Count(n, "case") + " without a counterpart"
	}
	if n := len(d.madeInbounds()); n > 0 {
		text += "; " + terminal.Count(n, "inbound") + " made"
	}
	if n := len(d.callers.Peers); n > 0 {
		text += "; " + terminal.Count(n, "caller") + " made"
	}
	return text + d.evidence()
}

// mark is the sign of the verdict. Access that may widen is never a tick.
func (d *Difference) mark() string {
	switch {
	case len(d.Failures()) > 0:
		return "✗"
	case len(d.widenings()) > 0:
		return "!"
	default:
		return "✓"
	}
}

// made says of each inbound and each caller that was made what it is.
func (d *Difference) made() []string { return append(d.madeInbounds(), d.callers.Texts()...) }

func (d *Difference) madeInbounds() []string {
	var out []string
	for _, c := range d.Cases {
		for _, m := range c.Made {
			out = append(out, m.Inbound.String()+": "+m.String())
		}
	}
	return out
}

// evidence returns what Envoy says about the changes.
func (d *Difference) evidence() string {
	t := d.confirmed()
	switch {
	case d.ToConfirm && d.Changes() == 0:
		return "; nothing to confirm"
	case d.Envoy == "":
		return ""
	case t.Fault:
		return "; Envoy " + d.Envoy + " gave no answer, see above"
	case t.Failed > 0:
		return "; Envoy " + d.Envoy + " decides otherwise, see above"
	default:
		return "; shown on Envoy " + d.Envoy
	}
}

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
			arguments := d.argumentsOf(one, found)
			for _, change := range found.Changes {
				shown := one.shown(asked)
				writeChange(w, p, change, shown)
				if line := explain(one, arguments, change, shown); line != "" {
					fmt.Fprintf(w, "      explain  %s\n", line)
				}
				asked++
			}
			fmt.Fprintln(w)
		}
		for _, err := range one.errors() {
			fmt.Fprintf(w, "%s %s\n", p.Mark(false), p.Red(terminal.Printable(err)))
		}
		for _, note := range one.notes() {
			fmt.Fprintf(w, "note: %s\n", terminal.Printable(note))
		}
	}
	if d.Routes != nil {
		d.Routes.WriteText(w, p)
	}
	if d.Assumed != "" {
		fmt.Fprintf(w, "assumed: %s\n", terminal.Printable(d.Assumed))
	}
	for _, text := range d.made() {
		fmt.Fprintf(w, "made: %s\n", terminal.Printable(text))
	}
	for _, text := range texts(d.Unasked) {
		fmt.Fprintf(w, "%s %s\n", p.Red("not asked:"), terminal.Printable(text))
	}
	for _, text := range texts(d.Unread) {
		fmt.Fprintf(w, "%s %s\n", p.Red("not read:"), terminal.Printable(text))
	}
	for _, text := range slices.Concat(d.firstTexts(), d.domainTexts(), d.besideTexts()) {
		fmt.Fprintln(w, terminal.Printable(text))
	}
	for _, text := range texts(d.Warnings) {
		fmt.Fprintf(w, "%s %s\n", p.Yellow("warning:"), terminal.Printable(text))
	}
	if len(d.Cases) > 0 {
		fmt.Fprintln(w, d.Sentence())
	}
	mark := d.mark()
	if mark == "✗" {
		mark = p.Red(mark)
	}
	reasons, verdict := d.lines()
	for _, reason := range reasons {
		fmt.Fprintf(w, "reason: %s\n", terminal.Printable(reason))
	}
	if len(reasons) > 0 {
		verdict += ", see above"
	}
	fmt.Fprintf(w, "%s %s\n", mark, terminal.Printable(verdict))
}

// shown are the two results of the n-th change, nil where no Envoy was asked.
func (c Case) shown(n int) []result.Request {
	if c.OldResult == nil || n >= len(c.OldResult.Requests) || n >= len(c.NewResult.Requests) {
		return nil
	}
	return []result.Request{c.OldResult.Requests[n], c.NewResult.Requests[n]}
}

// explain returns the command that explains by the new policies why access widens, or what
// Envoy decides otherwise; "" for other changes, and without arguments that lead to the inbound.
func explain(c Case, arguments []string, change Change, shown []result.Request) string {
	isWrong := func(q result.Request) bool { return len(q.Problems) > 0 }
	if arguments == nil || change.Kind() != Widened && !slices.ContainsFunc(shown, isWrong) {
		return ""
	}
	return explanation.NewCommand(arguments...).Line(c.New, change.Request, false)
}

// argumentsOf returns the arguments of a command about an inbound under the new policies, nil where none lead to it.
func (d *Difference) argumentsOf(c Case, found Comparison) []string {
	switch made := c.Made != nil; {
	case d.Arguments == nil || d.recent.Empty():
		return nil
	case made && d.recent.HasDataplanes:
		if !d.isMadeByNew(c, found.Inbound.String()) {
			return nil
		}
		return d.Arguments()
	case !c.generated:
		return summary.Arguments(c.New, false)
	case made || (d.old.HasDataplanes || d.old.HasCases) && !d.recent.HasDataplanes:
		words, ok := describe(found.recent)
		if !ok {
			return nil
		}
		return append(d.Arguments(explanation.InboundFlags...), words...)
	default:
		return d.Arguments()
	}
}

// describe returns the arguments that describe an inbound, and reports whether policies say the same of what these describe.
// No flag gives a tag, or says that a label is none.
func describe(in verdict.Inbound) ([]string, bool) {
	untagged := in.Inbound.Inbound
	untagged.Tags = nil
	words, ok := explanation.Describe(untagged)
	return words, ok && in.Reading().Set().Program(untagged).Program.Equal(in.Program.Program)
}

// isMadeByNew reports whether a command that reads NEW alone makes the inbound of that name too. Beside
// Dataplanes no flags describe an inbound.
func (d *Difference) isMadeByNew(c Case, to string) bool {
	same := func(in policy.Inbound) bool { return in.String() == to }
	i := slices.IndexFunc(c.New.Inbounds, func(in cases.Inbound) bool { return same(in.Inbound) })
	found := slices.DeleteFunc(slices.Clone(d.madeByNew), func(m lab.Made) bool { return !same(m.Inbound) })
	return i >= 0 && len(found) == 1 && reflect.DeepEqual(found[0].Inbound, c.New.Inbounds[i].Inbound)
}

func writeChange(w io.Writer, p terminal.Paint, c Change, shown []result.Request) {
	sign := kindSigns[c.Kind()]
	if c.Kind() == Widened {
		sign = p.Red(sign)
	}
	fmt.Fprintf(w, "  %s %s: %s\n", sign, c.Kind().words(), terminal.Printable(c.Text))
	fmt.Fprintf(w, "      request  %s\n", terminal.Printable(witnessText(c)))
	for i, side := range []struct {
		name    string
		opinion Opinion
	}{{"old", c.Old}, {"new", c.New}} {
		mark := ""
		if shown != nil {
			mark = p.Mark(len(shown[i].Problems) == 0) + " "
		}
		fmt.Fprintf(w, "      %s      %s%s\n", side.name, mark, terminal.Printable(side.opinion.text()))
		writePlace(w, side.opinion.Place)
		if shadowChanges(c) {
			fmt.Fprintf(w, "               shadow %s\n", terminal.Printable(cmp.Or(side.opinion.ShadowReason, "none")))
			writePlace(w, side.opinion.ShadowPlace)
		}
		if shown != nil {
			for _, problem := range shown[i].ProblemTexts() {
				fmt.Fprintf(w, "               %s\n", p.Red(problem))
			}
		}
	}
}

// writePlace prints where the rule is that decides, if there is one.
func writePlace(w io.Writer, place string) {
	if place != "" {
		fmt.Fprintf(w, "               at %s\n", terminal.Printable(place))
	}
}

// errors returns why the case as a whole could not be shown.
func (c Case) errors() []string {
	var out []string
	for _, r := range []*result.Case{c.OldResult, c.NewResult} {
		if r != nil && r.Err != nil {
			out = append(out, r.Case.Name+": "+r.Err.Error())
		}
	}
	return out
}

// notes are what the runs of both policies say beside their requests.
func (c Case) notes() []string {
	var out []string
	for _, r := range []*result.Case{c.OldResult, c.NewResult} {
		if r == nil {
			continue
		}
		for _, note := range r.Notes {
			if !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	return out
}

// shadowChanges reports whether the shadow changes, or only its deciding policy.
func shadowChanges(c Change) bool {
	was, is := c.Old.Decision, c.New.Decision
	return was.Shadowed != is.Shadowed || was.Shadow != is.Shadow
}

func witnessText(c Change) string {
	words := []string{c.Request.To}
	if c.Witness.Path != "" {
		words = append(words, c.Witness.Method, c.Witness.Path)
	}
	return strings.Join(append(words, "as", c.Request.From.Name), " ") + servername.Clause(c.Witness.SNI) + token.Clause(token.FromClaims(c.Witness.Others)) + endpoint.Clause(c.Witness.Source, netip.Addr{}) + requestline.HeaderClause(c.Witness.Host, c.Witness.Headers)
}
