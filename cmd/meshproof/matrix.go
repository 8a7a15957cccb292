package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/conformance"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

// writeResults prints one run in full; of several, what went wrong, where they
// differ, and a line each.
func writeResults(w io.Writer, p terminal.Paint, results []conformance.Result) {
	defer writeSlow(w, p, results)
	for _, r := range results {
		if len(r.Results) == 0 {
			fmt.Fprintf(w, "shard %s of Envoy %s has no case: there are more shards than cases\n", r.Report.Shard, r.Report.Envoy)
		}
	}
	if len(results) == 1 {
		writeText(w, p, results[0].Report, results[0].Results)
		return
	}
	for _, r := range results {
		writeFailures(w, p, r.Results, r.Report)
	}
	writeDifferences(w, runs(results))
	for _, r := range results {
		fmt.Fprintln(w, summarize(r.Report, r.Results).line(p))
	}
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
	for _, line := range table.Lines() {
		fmt.Fprintln(w, line)
	}
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
func writeSlow(w io.Writer, p terminal.Paint, results []conformance.Result) {
	for _, r := range results {
		for _, c := range r.Results {
			if c.Took > report.SlowCase {
				fmt.Fprintf(w, "%s %s took %.1f s on Envoy %s\n", p.Yellow("slow:"), terminal.Printable(c.Case.Name), c.Took.Seconds(), r.Report.Envoy)
			}
		}
	}
}
