package summary

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Run is what became of all cases on one version of Envoy.
type Run struct {
	Report report.Run
	// Results are in the order of the report's cases.
	Results []result.Case
}

// Runs are what became of the same cases on each version of Envoy that could be started.
type Runs struct {
	All []Run
	// Several is true where several versions were asked for. The JSON form is then an
	// array.
	Several bool
}

// Tally counts the cases of all runs.
func (r Runs) Tally() Tally {
	var t Tally
	for _, run := range r.All {
		t = t.Plus(Of(run.Results...))
	}
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

// MarshalJSON returns the report of the run, or an array with those of several runs. It
// is null where no Envoy could be started.
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

// WriteText prints a single run in full. Of several runs it prints the failures, where the
// runs differ, and a line each. At the end it names the slow cases.
func (r Runs) WriteText(w io.Writer, p terminal.Paint) {
	defer r.writeSlow(w, p)
	for _, run := range r.All {
		if len(run.Results) == 0 {
			fmt.Fprintf(w, "shard %s of Envoy %s has no case: there are more shards than cases\n", run.Report.Shard, run.Report.Envoy)
		}
	}
	if len(r.All) == 1 {
		r.All[0].WriteText(w, p)
		return
	}
	for _, run := range r.All {
		run.writeFailures(w, p)
	}
	writeDifferences(w, r.Reports())
	for _, run := range r.All {
		fmt.Fprintln(w, Of(run.Results...).Line(p, run.Report))
	}
}

// WriteReports prints where the runs of reports differ, and a line for each. It returns
// what they come to.
func WriteReports(w io.Writer, p terminal.Paint, all []report.Run) Tally {
	writeDifferences(w, all)
	var sum Tally
	for _, run := range all {
		t := OfRun(run)
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

// statuses are what became of a case in each run, without the reasons.
func statuses(values []string) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i], _, _ = strings.Cut(value, ":")
	}
	return out
}

// writeSlow names each case that takes longer than a case should.
func (r Runs) writeSlow(w io.Writer, p terminal.Paint) {
	for _, run := range r.All {
		for _, c := range run.Results {
			if c.Took > report.SlowCase {
				fmt.Fprintf(w, "%s %s took %.1f s on Envoy %s\n", p.Yellow("slow:"), terminal.Printable(c.Case.Name), c.Took.Seconds(), run.Report.Envoy)
			}
		}
	}
}
