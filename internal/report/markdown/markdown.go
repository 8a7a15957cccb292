// Package markdown draws runs, and comparisons of runs, as GitHub's Markdown, for the page of a CI job.
//
// It guarantees that a text stays below 1 MB, the most that GitHub takes, and that nothing in a run becomes markup.
package markdown

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Bounds of a summary. What is beyond them is counted.
const (
	mostFailures = 20
	mostProblems = 5
	mostSlow     = 10
)

// Write writes the runs as a summary for the page of a CI job: the verdict, what
// became of the cases of each profile, the stories and the cells that are worth a
// look, the failures with the commands that repeat them, and the slowest cases.
//
// The text is always below 1 MB, the limit of GitHub, and no name in it becomes markup.
func Write(w io.Writer, runs []report.Run) error {
	labels := report.Labels(runs)
	var d document
	d.heading("Policy conformance")
	d.paragraph(verdict(runs, labels))
	profiles(&d, runs, labels)
	stories(&d, runs, labels)
	cells(&d, runs, labels)
	bounds(&d, runs, labels)
	failures(&d, runs, labels)
	slowest(&d, runs, labels)
	if _, err := io.WriteString(w, d.String()); err != nil {
		return fmt.Errorf("report: write the summary: %w", err)
	}
	return nil
}

// verdict says in one or two sentences whether all cases passed.
func verdict(runs []report.Run, labels []string) string {
	var t report.Tally
	var requests, faults int
	var parts []string
	for i, r := range runs {
		for _, c := range r.Cases {
			t.Add(c)
			requests += c.Asked()
			if c.Failed() && c.Fault {
				faults++
			}
		}
		if r.Shard != "" {
			parts = append(parts, labels[i])
		}
	}
	if t.Passed+t.Failed == 0 {
		return "**Nothing was proven**: no case was run."
	}
	word := "Passed"
	if t.Failed > 0 {
		word = "Failed"
	}
	text := fmt.Sprintf("**%s** on Envoy %s: of %s with %s, %s.", word, list(labels), terminal.Count(t.Total(), "case"), terminal.Count(requests, "request"), t)
	if faults > 0 {
		text += fmt.Sprintf(" In %s Envoy or the machine failed, which proves nothing either way.", terminal.Count(faults, "case"))
	}
	if slices.ContainsFunc(runs, func(r report.Run) bool { return r.AnyNames }) {
		text += " Any name of a policy would do: the decision was compared, and not the policy that made it."
	}
	if parts != nil {
		text += fmt.Sprintf(" Only a part of a run: %s.", list(parts))
	}
	return text
}

// list joins the first ten names for a sentence.
func list(names []string) string {
	var out []string
	for _, name := range names[:min(len(names), 10)] {
		out = append(out, escape(name))
	}
	if more := len(names) - len(out); more > 0 {
		out = append(out, fmt.Sprintf("%d more", more))
	}
	if len(out) == 1 {
		return out[0]
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

func profiles(d *document, runs []report.Run, labels []string) {
	t := table{header: columns(labels, "profile")}
	for _, p := range feature.Profiles() {
		for _, l := range []feature.Level{feature.Core, feature.Extended} {
			row := []string{escape(string(p)) + " " + string(l)}
			some := false
			for _, r := range runs {
				tally := r.Tally(p, l)
				some = some || tally.Total() > 0
				row = append(row, tallyCell(tally))
			}
			if some {
				t.rows = append(t.rows, row)
			}
		}
	}
	all, times := []string{"all cases"}, []string{"time"}
	for _, r := range runs {
		all = append(all, tallyCell(report.Count(r.Cases)))
		times = append(times, report.Seconds(report.Took(r.Milliseconds)))
	}
	if len(runs) > 0 {
		t.rows = append(t.rows, all, times)
	}
	d.table("", t)
}

// stories has the stories with a case that did not pass in some run.
func stories(d *document, runs []report.Run, labels []string) {
	t := table{header: columns(labels, "story")}
	var names []string
	tallies := map[string][]report.Tally{}
	for i, r := range runs {
		for _, s := range r.Stories() {
			if tallies[s.Name] == nil {
				names = append(names, s.Name)
				tallies[s.Name] = make([]report.Tally, len(runs))
			}
			tallies[s.Name][i] = report.Count(s.Cases)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(tallies[name], func(t report.Tally) bool { return t.Passed != t.Total() }) {
			continue
		}
		row := []string{escape(name)}
		for _, tally := range tallies[name] {
			row = append(row, tallyCell(tally))
		}
		t.rows = append(t.rows, row)
	}
	d.table("Stories with a case that did not pass", t)
}

// cells has the differences between the runs.
func cells(d *document, runs []report.Run, labels []string) {
	t := table{header: columns(labels, "case", "request")}
	for _, difference := range report.Differences(runs) {
		row := []string{escape(difference.Case), code(difference.Request)}
		for _, value := range difference.Values {
			switch {
			case value == "":
				row = append(row, "–")
			case difference.Request == "":
				row = append(row, escape(value))
			default:
				row = append(row, code(value))
			}
		}
		t.rows = append(t.rows, row)
	}
	d.table("Cells that differ between the runs", t)
}

// bounds has the requests through sidecars that a bound ended: the way they took, and the measured time
// in each run beside the time in which they had to end.
func bounds(d *document, runs []report.Run, labels []string) {
	t := table{header: columns(labels, "case", "request", "ended by", "route", "backend", "wanted")}
	rows := map[string][]string{}
	var order []string
	for i, r := range runs {
		for _, c := range r.Cases {
			asked := report.Askings(c)[len(c.Requests):]
			for k, q := range c.RoutedRequests {
				if q.Window == nil {
					continue
				}
				key := fmt.Sprintf("%q %s %s", c.Case, asked[k], q.Decision())
				if rows[key] == nil {
					rows[key] = []string{escape(c.Case), code(asked[k].String()), code(q.CauseText()), code(q.Route), code(strings.Join(q.Backends, " or ")), q.Window.String()}
					for range runs {
						rows[key] = append(rows[key], "–")
					}
					order = append(order, key)
				}
				text := report.Milliseconds(q.Milliseconds)
				if !q.Passed {
					text = "**" + text + "**"
				}
				rows[key][len(rows[key])-len(runs)+i] = text
			}
		}
	}
	for _, key := range order {
		t.rows = append(t.rows, rows[key])
	}
	d.table("Requests that a time limit ended", t)
}

func failures(d *document, runs []report.Run, labels []string) {
	s := section{d: d, heading: "Failures"}
	n := 0
	for i, r := range runs {
		for _, c := range r.Cases {
			if !c.Failed() {
				continue
			}
			if n++; n > mostFailures || !s.add(failureText(c, labels[i])) {
				s.left++
			}
		}
	}
	s.end()
}

func failureText(c report.Case, label string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s** on %s", escape(c.Case), escape(label))
	if c.Place != "" {
		fmt.Fprintf(&b, " (%s)", escape(c.Place))
	}
	b.WriteString("\n\n")
	problems := c.Problems()
	for _, problem := range problems[:min(len(problems), mostProblems)] {
		fmt.Fprintf(&b, "- %s\n", escape(problem))
	}
	if more := len(problems) - mostProblems; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	if c.Again != "" {
		fmt.Fprintf(&b, "\n%s\n", block(c.Again))
	}
	return b.String() + "\n"
}

func slowest(d *document, runs []report.Run, labels []string) {
	t := table{header: columns(nil, "case", "run", "time")}
	for _, s := range report.Slow(runs, mostSlow) {
		time := report.Seconds(s.Took)
		if s.Took > report.SlowCase {
			time = "**" + time + "**"
		}
		t.rows = append(t.rows, []string{escape(s.Case.Case), escape(labels[s.Run]), time})
	}
	d.table("Slowest cases", t)
}

func tallyCell(t report.Tally) string {
	switch {
	case t.Total() == 0:
		return "–"
	case t.Failed > 0:
		return "**" + t.String() + "**"
	default:
		return t.String()
	}
}

// Comparing prints a comparison as a table, for the page of a CI job; see [Write]
// for its bounds.
func Comparison(c report.Comparison) string {
	var d document
	d.heading("Comparison")
	for _, s := range []report.Side{c.A, c.B} {
		d.paragraph(fmt.Sprintf("**%s**: %s in %s", escape(s.Label), s.Tally, report.Seconds(s.Took)))
	}
	d.paragraph(c.Sentence())
	t := table{header: columns([]string{c.A.Label, c.B.Label}, "case", "request", "what")}
	for _, change := range c.Changed {
		t.rows = append(t.rows, []string{
			escape(change.Case), code(change.Request), escape(change.What), code(change.A), code(change.B),
		})
	}
	d.table("", t)
	for _, only := range []struct {
		label string
		cases []string
	}{{c.A.Label, c.OnlyA}, {c.B.Label, c.OnlyB}} {
		t := table{header: []string{"only in " + escape(only.label)}}
		for _, name := range only.cases {
			t.rows = append(t.rows, []string{escape(name)})
		}
		d.table("", t)
	}
	return d.String()
}

// maxSection bounds a section of a document, in bytes. Six sections are well below the 1 MiB
// that GitHub takes.
const maxSection = 150_000

// maxText bounds one text in a document, in characters.
const maxText = 400

// markup replaces each character that may be markup in Markdown or HTML by a character
// reference. In tables a backslash does not always work, but a reference does.
var markup = strings.NewReplacer(func() []string {
	var pairs []string
	for _, r := range "\\`*_[]<>#|~&$@" {
		pairs = append(pairs, string(r), fmt.Sprintf("&#%d;", r))
	}
	return append(pairs, "://", "&#58;//", "www.", "www&#46;")
}()...)
