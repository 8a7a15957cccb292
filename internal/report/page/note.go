package page

import (
	"fmt"

	"github.com/meshproof/meshproof/internal/report"
)

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

// problems says why a case failed, in the runs in which it failed.
func (c *caseView) problems(runs []report.Run, labels []string) []note {
	failed := make([]*report.Case, len(c.runs))
	for i, r := range c.runs {
		if r != nil && r.Failed() {
			failed[i] = r
		}
	}
	notes := collectNotes("", runs, labels, failed, func(r *report.Case) []string {
		if texts := r.Problems(); len(texts) > 0 {
			return texts
		}
		return []string{"it says no more"}
	})
	if more := len(notes) - mostProblems; more > 0 {
		notes = append(notes[:mostProblems], note{Text: fmt.Sprintf("and %s more", report.Plural(more, "problem"))})
	}
	for i := range notes {
		if notes[i].On == "" && len(c.runs) > 1 {
			notes[i].On = c.failedOn(labels)
		}
	}
	return notes
}

func (c *caseView) failedOn(labels []string) string {
	var names []string
	for i, r := range c.runs {
		if r != nil && r.Failed() {
			names = append(names, labels[i])
		}
	}
	return joinNames(names)
}

// differentCells finds the cells in which the truth tables of a case differ, with the cell
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
	if first == nil {
		return nil
	}
	var out []differentRequest
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
