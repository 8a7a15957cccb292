package summary

import (
	"cmp"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// writeText prints a table for each story: the caller, the decision, its policy and the
// shadow. A line for each story and the failures come last, because a reader looks there first.
// A quiet text has no tables. It counts the warnings that stand there, and says which policies were drawn.
func (r Run) writeText(w io.Writer, p terminal.Paint, quiet bool) {
	stories := byStory(r.Results)
	if !quiet {
		for _, story := range stories {
			writeStory(w, p, story)
		}
	}
	if quiet || len(stories) > 1 {
		for _, story := range stories {
			fmt.Fprintln(w, storyLine(p, story))
		}
		fmt.Fprintln(w)
	}
	r.writeFailures(w, p)
	r.writeOutage(w, p)
	r.writeSlow(w, p)
	if quiet {
		r.writeDrawn(w)
		r.countWarnings(w, p)
	}
	fmt.Fprintln(w, Count(r.Results...).Line(p, r.Report))
}

// writeDrawn says which policies were drawn: the same seed draws them again.
func (r Run) writeDrawn(w io.Writer) {
	for _, c := range r.Results {
		if c.Drawn == nil {
			continue
		}
		for _, note := range c.Notes {
			fmt.Fprintf(w, "drawn policies: %s\n", note)
		}
	}
}

// countWarnings says in how many cases there are warnings that a quiet text leaves out. A case that states its warnings has no news.
func (r Run) countWarnings(w io.Writer, p terminal.Paint) {
	warned := 0
	for _, c := range r.Results {
		if len(c.Warnings) > 0 && c.Case.ExpectWarnings == nil {
			warned++
		}
	}
	if warned > 0 {
		fmt.Fprintf(w, "lint %s about the policies of %s: run without --quiet to read why\n", p.Yellow("warns"), terminal.Count(warned, "case"))
	}
}

func (r Run) writeFailures(w io.Writer, p terminal.Paint) {
	for i, c := range r.Results {
		if c.Failed() {
			c.WriteFailure(w, p, r.Report.Cases[i].Again)
		}
	}
}

// writeOutage says once what kept cases from running.
func (r Run) writeOutage(w io.Writer, p terminal.Paint) {
	for _, c := range r.Results {
		if c.NotRun() {
			fmt.Fprintf(w, "%s %v\n", p.Mark(false), c.Err)
			return
		}
	}
}

// byStory groups the results by story, in the order of their first case.
func byStory(results []result.Case) [][]result.Case {
	var stories [][]result.Case
	indexes := map[string]int{}
	for _, r := range results {
		i, ok := indexes[r.Case.Story]
		if !ok {
			i = len(stories)
			indexes[r.Case.Story] = i
			stories = append(stories, nil)
		}
		stories[i] = append(stories[i], r)
	}
	return stories
}

// storyLine counts the cases of a story.
func storyLine(p terminal.Paint, results []result.Case) string {
	t := Count(results...)
	title := terminal.Printable(cmp.Or(results[0].Case.Story, "cases without a story"))
	return fmt.Sprintf("%s %s: %s", t.sign(p), title, t)
}

// writeStory prints the cases of a story as one table. It shortens an identity of the story's
// own trust domain to its path.
func writeStory(w io.Writer, p terminal.Paint, results []result.Case) {
	own := ""
	if domains := results[0].Case.TrustDomains; len(domains) > 0 {
		own = domains[0].IDString()
	}
	table := terminal.Table{{"decision", "by", "shadow", "caller in " + own, "request"}}
	for _, r := range results {
		for _, q := range r.Requests {
			table = append(table, row(own, q))
		}
	}
	lines := table.Lines()
	fmt.Fprintln(w, storyLine(p, results))
	if len(lines) > 1 {
		fmt.Fprintf(w, "      %s\n", lines[0])
	}
	next := 1
	for _, r := range results {
		if r.NotRun() {
			continue // writeOutage says why
		}
		if r.Skipped != "" {
			what := "skipped"
			if r.NotApplicable {
				what = "not applicable"
			}
			fmt.Fprintf(w, "  %s %s\n    %s: %s\n", p.Skip(), terminal.Printable(r.Case.Name), what, r.Skipped)
			next += len(r.Requests)
			continue
		}
		fmt.Fprintf(w, "  %s %s\n", p.Mark(r.Passed()), terminal.Printable(r.Case.Name))
		for _, q := range r.Requests {
			line, ok := lines[next], len(q.Problems) == 0
			if !ok {
				line = p.Red(line)
			}
			fmt.Fprintf(w, "    %s %s\n", p.Mark(ok), line)
			next++
		}
		for _, warning := range r.Warnings {
			fmt.Fprintf(w, "    %s %s\n", p.Yellow("warning:"), warning)
		}
		for _, note := range r.Notes {
			fmt.Fprintf(w, "    note: %s\n", note)
		}
	}
	fmt.Fprintln(w)
}

func row(own string, q result.Request) []string {
	return []string{report.Outcome(q), originOf(q.Finding), shadow(q.Finding), terminal.Printable(shorten(own, q.From.Name)), terminal.Printable(q.Text())}
}

// shorten leaves out the story's own trust domain of a SPIFFE ID. The path that remains
// begins with a slash, which no other name does.
func shorten(own, name string) string {
	if n := len(own); n > 0 && len(name) > n && name[:n] == own && name[n] == '/' {
		return name[n:]
	}
	return name
}

// originOf is the policy that decided, "-" where none was asked. Some dialects name no
// policy where no rule matched.
func originOf(f evidence.Finding) string {
	if !f.Judged {
		return "-"
	}
	return cmp.Or(f.Verdict.Origin, "no rule")
}

func shadow(f evidence.Finding) string {
	if !f.Shadow.Ran {
		return "-"
	}
	return f.Shadow.Verdict.String()
}
