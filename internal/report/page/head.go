package page

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

// attributes are facts about a run. The page shows a fact once where all runs agree, else in a
// column.
var attributes = []struct {
	name string
	read func(report.Run) string
}{
	{"Compiler", func(r report.Run) string {
		text := strings.TrimSpace(r.Implementation.Project + " " + r.Implementation.Version)
		if o := r.Implementation.Organization; o != "" && o != r.Implementation.Project {
			text += " by " + o
		}
		return text
	}},
	{"Tested with", func(r report.Run) string { return strings.TrimSpace("meshproof " + r.Meshproof) }},
	{"Date", func(r report.Run) string { return r.Date.UTC().Format(time.DateOnly + " 15:04 MST") }},
	{"Runtime", func(r report.Run) string { return r.Runtime }},
	{"Probed", report.Run.BehaviorText},
	{"Profiles", func(r report.Run) string { return nameList(r.Profiles) }},
	{"Not claimed", func(r report.Run) string { return nameList(r.Unsupported) }},
	{"Shard", func(r report.Run) string { return r.Shard }},
	{"Request classes proven", func(r report.Run) string {
		if r.ClassesProven == nil {
			return ""
		}
		text := fmt.Sprintf("%s of %s", terminal.Number(r.ClassesProven.Proven), terminal.Number(r.ClassesProven.Of))
		if !r.ClassesProven.Complete {
			text += ", regular expressions sampled"
		}
		return text
	}},
	{"Seeded faults found", func(r report.Run) string {
		if r.MutationScore == nil {
			return ""
		}
		return fmt.Sprintf("%s of %s", terminal.Number(r.MutationScore.Killed), terminal.Number(r.MutationScore.Of))
	}},
}

func nameList[T ~string](names []T) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return strings.Join(out, ", ")
}

// runs fills the table of runs, and the facts that all runs have in common.
func (v *view) runs(runs []report.Run, labels []string) {
	for i, r := range runs {
		shown := runView{Label: labels[i], SHA256: r.EnvoySHA256, Tally: report.Count(r.Cases), Time: report.Seconds(report.Took(r.Milliseconds))}
		for _, c := range r.Cases {
			shown.Requests += c.Asked()
		}
		v.Runs = append(v.Runs, shown)
		v.Requests += shown.Requests
	}
	for _, a := range attributes {
		if report.Differ(runs, a.read) {
			v.Columns = append(v.Columns, a.name)
			for i, r := range runs {
				v.Runs[i].More = append(v.Runs[i].More, a.read(r))
			}
			continue
		}
		if text := a.read(runs[0]); text != "" {
			fact := fact{Name: a.name, Text: text}
			if a.name == "Compiler" {
				fact.Link = projectLink(runs)
			}
			v.Facts = append(v.Facts, fact)
		}
	}
}

// projectLink is the address of the implementation. It is empty unless it is an https address
// that all runs have.
func projectLink(runs []report.Run) string {
	address := func(r report.Run) string { return r.Implementation.URL }
	u, err := url.Parse(address(runs[0]))
	if err != nil || u.Scheme != "https" || report.Differ(runs, address) {
		return ""
	}
	return u.String()
}

// verdict sets the sentence with the result.
func (v *view) verdict(runs []report.Run) {
	var all report.Tally
	same, versions := true, map[string]bool{}
	for i, r := range v.Runs {
		all = all.Plus(r.Tally)
		same = same && r.Tally == v.Runs[0].Tally
		versions[runs[i].Envoy] = true
	}
	v.Result = worstStatus(all)
	where := fmt.Sprintf("on %d versions of Envoy", len(runs))
	switch {
	case len(runs) == 1:
		where = "on Envoy " + report.Visible(runs[0].Envoy)
	case len(versions) < len(runs):
		where = fmt.Sprintf("in %d runs", len(runs))
	}
	v.Verdict = fmt.Sprintf("%s %s: ", terminal.Count(v.Total, "case"), where)
	switch {
	case same && len(runs) > 1:
		v.Verdict += v.Runs[0].Tally.String() + " on each"
	case same:
		v.Verdict += all.String()
	default:
		v.Verdict += all.String() + " of " + terminal.Count(all.Total(), "result")
	}
	if classes := runs[0].ClassesProven; v.Title == "proof" && len(runs) == 1 && classes != nil {
		v.Verdict += fmt.Sprintf(", %s of %s request classes proven", terminal.Number(classes.Proven), terminal.Number(classes.Of))
	}
}

// mostProblems bounds the problems of a case in the list of failures. The case itself has
// all of them.
const mostProblems = 3

// note adds a case to the lists of failures and of differences.
func (v *view) note(c *caseView, runs []report.Run, labels []string) {
	if f := (failedCase{Case: c, Problems: c.problems(runs, labels)}); len(f.Problems) > 0 {
		v.Failed = append(v.Failed, f)
	}
	switch {
	case c.differs():
		v.Differs = append(v.Differs, differentCase{Case: c, Rows: c.differentCells(), Reasons: collectNotes("", runs, labels, c.runs, func(r *report.Case) []string { return textList(r.Skipped, true) })})
	case len(c.Groups) > 1:
		v.Nuances = append(v.Nuances, c)
	}
}

// problems says why a case failed, in each run where it failed.
func (c *caseView) problems(runs []report.Run, labels []string) []note {
	failed := make([]*report.Case, len(c.runs))
	var failedRuns []int
	for i, r := range c.runs {
		if r != nil && r.Failed() {
			failed[i], failedRuns = r, append(failedRuns, i)
		}
	}
	notes := collectNotes("", runs, labels, failed, func(r *report.Case) []string {
		if texts := r.Problems(); len(texts) > 0 {
			return texts
		}
		return []string{"it says no more"}
	})
	if more := len(notes) - mostProblems; more > 0 {
		notes = append(notes[:mostProblems], note{Text: fmt.Sprintf("and %s more", terminal.Count(more, "problem"))})
	}
	for i := range notes {
		if notes[i].RunNames == "" && len(c.runs) > 1 {
			notes[i].RunNames = joinLabels(failedRuns, labels)
		}
	}
	return notes
}

// differentCells finds the cells where the truth tables of a case differ, with the cell
// of each run.
func (c *caseView) differentCells() []differentRequest {
	callers, _ := layOut(c.runs)
	var first *table
	byRun := make([]*table, len(c.runs))
	for _, g := range c.Groups {
		if g.Table == nil {
			continue
		}
		if first == nil {
			first = g.Table
		}
		for _, run := range g.runs {
			byRun[run] = g.Table
		}
	}
	out := c.differentRouted()
	if first == nil {
		return out
	}
	for i, in := range first.Inbounds {
		for j, asked := range in.Requests {
			for k := range asked.Cells {
				row := differentRequest{Inbound: in.Name, Request: asked.Text, Caller: callers[k], Cells: make([][]cell, len(byRun))}
				differs := false
				for run, t := range byRun {
					if t == nil {
						continue
					}
					for _, cell := range t.Inbounds[i].Requests[j].Cells[k] {
						differs = differs || cell.Differs
						cell.Differs = false // every row here has a difference, so a mark says nothing
						row.Cells[run] = append(row.Cells[run], cell)
					}
				}
				if differs {
					out = append(out, row)
				}
			}
		}
	}
	return out
}

// mostSlow bounds the slow cases at the head of the page. The table of times has the
// others.
const mostSlow = 5

// caseTime is the time of a case in each run.
type caseTime struct {
	Case  *caseView
	Cells []timeCell
	// Run is the run with the longest time, and Time is that time as text.
	Run, Time string

	longest float64
}

// timeCell is a time in whole milliseconds. Slow: it is more than [report.SlowCase].
type timeCell struct {
	Text string
	Slow bool
}

// time adds the times of a case to the table.
func (v *view) time(c *caseView, labels []string) {
	t := caseTime{Case: c, longest: -1}
	for i, r := range c.runs {
		if r == nil {
			t.Cells = append(t.Cells, timeCell{Text: absent.Sign()})
			continue
		}
		t.Cells = append(t.Cells, timeCell{Text: terminal.Number(int(math.Round(r.Milliseconds))), Slow: c.Results[i].Slow})
		if r.Milliseconds > t.longest {
			t.longest, t.Run, t.Time = r.Milliseconds, labels[i], c.Results[i].Time
		}
	}
	v.Times = append(v.Times, t)
}

// times sorts the table, the slowest case first, and finds the slow cases.
func (v *view) times() {
	slices.SortStableFunc(v.Times, func(a, b caseTime) int { return cmp.Compare(b.longest, a.longest) })
	for _, t := range v.Times {
		if report.Took(t.longest) > report.SlowCase {
			v.SlowCases++
		}
	}
	v.Slow = v.Times[:min(v.SlowCases, mostSlow)]
}

// Unnamed counts the slow cases that the head of the page does not name.
func (v *view) Unnamed() int { return v.SlowCases - len(v.Slow) }
