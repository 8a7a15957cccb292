// Package summary prints runs of cases for people: a table for each story, the failures, the
// differences between runs, and a line with the counts. The JSON form of a run is [report.Run].
//
// It guarantees that every failure is printed. It decides nothing: a [Tally] only counts.
package summary

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Run has the results of all cases on one version of Envoy.
type Run struct {
	Report report.Run
	// Results are in the order of the report's cases.
	Results []result.Case
}

// Runs are the runs of the same cases on each version of Envoy that started.
type Runs struct {
	All []Run
	// Several is true for several asked versions. The JSON form is then an array.
	Several bool
	// Part is true for a part of the cases, of which none may be for the version.
	Part bool
	// Quiet leaves out of the text what passed, see [Runs.WriteText].
	Quiet bool
}

// Tally counts the cases of all runs.
func (r Runs) Tally() Tally {
	var t Tally
	for _, run := range r.All {
		t = t.Plus(Count(run.Results...))
	}
	t.Part = r.Part
	return t
}

// Reports returns the report of each run.
func (r Runs) Reports() []report.Run {
	out := make([]report.Run, len(r.All))
	for i, run := range r.All {
		out[i] = run.Report
	}
	return out
}

// MarshalJSON returns the report of the run, or an array with the reports of several runs. It
// is null if no Envoy started.
func (r Runs) MarshalJSON() ([]byte, error) {
	switch {
	case r.Several:
		return terminal.MarshalJSON(r.Reports())
	case len(r.All) == 0:
		return []byte("null"), nil
	default:
		return terminal.MarshalJSON(r.All[0].Report)
	}
}

// WriteText prints a single run in full, or without what passed. Of several runs it prints the failures, the
// differences and a line each. The last lines are the results; the slow cases stand in front of them.
func (r Runs) WriteText(w io.Writer, p terminal.Paint) {
	for _, run := range r.All {
		if len(run.Results) == 0 {
			fmt.Fprintf(w, "shard %s of Envoy %s has no case: there are more shards than cases\n", run.Report.Shard, run.Report.Envoy)
		}
	}
	if len(r.All) == 1 {
		r.All[0].writeText(w, p, r.Quiet)
		return
	}
	for _, run := range r.All {
		run.writeFailures(w, p)
		run.writeOutage(w, p)
	}
	writeDifferences(w, r.Reports())
	for _, run := range r.All {
		run.writeSlow(w, p)
	}
	for _, run := range r.All {
		fmt.Fprintln(w, Count(run.Results...).Line(p, run.Report))
	}
}

// WriteReports prints the differences between runs, and a line for each run. It returns the
// sum of their tallies.
func WriteReports(w io.Writer, p terminal.Paint, all []report.Run) Tally {
	writeDifferences(w, all)
	var sum Tally
	for _, run := range all {
		t := tallyOf(run)
		fmt.Fprintln(w, t.Line(p, run))
		sum = sum.Plus(t)
	}
	return sum
}

// writeDifferences prints a table of the cells that differ between runs.
func writeDifferences(w io.Writer, all []report.Run) {
	differences := report.Differences(all)
	if len(differences) == 0 {
		return
	}
	table := terminal.Table{append([]string{"differs"}, report.Labels(all)...)}
	for i, d := range differences {
		if i == 0 || d.Case != differences[i-1].Case {
			title := []string{terminal.Printable(d.Case)}
			if d.Request == "" {
				title = append(title, statuses(d.Values)...)
			}
			table = append(table, title)
		}
		if d.Request != "" {
			row := []string{"  " + terminal.Printable(d.Request)}
			for _, value := range d.Values {
				row = append(row, terminal.Printable(value))
			}
			table = append(table, row)
		}
	}
	table.Write(w, "")
	fmt.Fprintln(w)
}

// statuses are the statuses of a case in the runs, without the reasons.
func statuses(values []string) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i], _, _ = strings.Cut(value, ":")
	}
	return out
}

// writeSlow names each slow case.
func (r Run) writeSlow(w io.Writer, p terminal.Paint) {
	for _, c := range r.Results {
		if c.Took > report.SlowCase && c.Drawn == nil {
			fmt.Fprintf(w, "%s %s took %.1f s on Envoy %s\n", p.Yellow("slow:"), terminal.Printable(c.Case.Name), c.Took.Seconds(), r.Report.Envoy)
		}
	}
}

// RepeatCommand returns the command that repeats one case of a run, with further flags. A
// built-in case needs no file.
func RepeatCommand(c cases.Case, run report.Run, builtIn bool, flags ...string) string {
	words := []string{"meshproof", "run"}
	for _, word := range Arguments(c, builtIn) {
		words = append(words, terminal.Quote(word))
	}
	words = append(words, "--envoy", run.Envoy, "--runtime", run.Runtime)
	return strings.Join(append(words, flags...), " ")
}

// Arguments returns the arguments of a command that choose one case.
func Arguments(c cases.Case, builtIn bool) []string {
	words := []string{"--case", "^" + patternOf(c.Name) + "$"}
	if !builtIn {
		words = append([]string{File(c)}, words...)
	}
	return words
}

// patternOf returns the regular expression of a name, on one line.
func patternOf(name string) string {
	var b strings.Builder
	for _, r := range regexp.QuoteMeta(name) {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\x{%x}`, r)
		}
	}
	return b.String()
}

// File returns the file of a case as an argument of a command, "" for a case that stands in none. Standard input is "-".
func File(c cases.Case) string {
	file := c.Place[:max(0, strings.LastIndexByte(c.Place, ':'))]
	if strings.HasPrefix(file, "-") && file != "-" {
		file = "./" + file
	}
	return file
}

// Tally counts what became of cases, of their requests, and of the transport.
type Tally struct {
	report.Tally
	// Requests and Retries leave out skipped cases. A retry overcame a fault of the transport.
	Requests, Retries int
	// Fault is true if Envoy or the machine failed in a case, or before it.
	Fault bool
	// NotRun counts the skipped cases that could not run because of that.
	NotRun int
	// Part is true for a part of the cases, which may be about other versions alone.
	Part bool
}

// Fails reports whether a case failed, or no case was asked: that is no tick.
func (t Tally) Fails() bool { return t.Failed > 0 || t.nothingAsked() && !t.Part }

// nothingAsked reports whether each case was skipped or is not applicable.
func (t Tally) nothingAsked() bool { return t.Total() > 0 && t.Passed+t.Failed+t.NotRun == 0 }

// Count counts the results.
func Count(results ...result.Case) Tally {
	var run report.Run
	for _, r := range results {
		run.Cases = append(run.Cases, report.Build(r))
	}
	return tallyOf(run)
}

// tallyOf counts the cases of a run.
func tallyOf(run report.Run) Tally {
	var t Tally
	for _, c := range run.Cases {
		t.Tally.Add(c)
		t.Fault = t.Fault || c.Fault
		if c.Skipped != "" {
			if c.Fault {
				t.NotRun++
			}
			continue
		}
		t.Requests += c.Asked()
		for _, q := range c.Requests {
			t.Retries += q.Evidence.Retries
		}
	}
	return t
}

// Plus adds up two tallies.
func (t Tally) Plus(u Tally) Tally {
	return Tally{t.Tally.Plus(u.Tally), t.Requests + u.Requests, t.Retries + u.Retries, t.Fault || u.Fault, t.NotRun + u.NotRun, t.Part || u.Part}
}

// sign is that of a line with the tally. Where no case was asked it is no tick.
func (t Tally) sign(p terminal.Paint) string {
	if t.Passed+t.Failed+t.NotRun == 0 {
		return "–"
	}
	return p.Mark(t.Failed == 0 && t.NotRun == 0)
}

// Line is the last line of a run.
func (t Tally) Line(p terminal.Paint, run report.Run) string {
	line := fmt.Sprintf("%s %s on Envoy %s (%s)", t.sign(p), t, run.Envoy, run.Runtime)
	if t.Retries > 0 {
		line += fmt.Sprintf(", %s retried", terminal.Count(t.Retries, "transport fault"))
	}
	return line
}

// String is "3 cases passed, 45 requests" or "1 of 3 cases failed, 2 skipped, 1 not
// applicable, 45 requests".
func (t Tally) String() string {
	text := terminal.Count(t.Passed, "case") + " passed"
	if t.Failed > 0 {
		text = fmt.Sprintf("%s of %s failed", terminal.Number(t.Failed), terminal.Count(t.Passed+t.Failed, "case"))
	}
	if t.NotRun > 0 {
		text += fmt.Sprintf(", %d not run", t.NotRun)
	}
	if skipped := t.Skipped - t.NotRun; skipped > 0 {
		text += fmt.Sprintf(", %d skipped", skipped)
	}
	if t.NotApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", t.NotApplicable)
	}
	if text += ", " + terminal.Count(t.Requests, "request"); t.nothingAsked() {
		text += ": nothing was asked"
	}
	return text
}
