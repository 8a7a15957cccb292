package report

import "fmt"

// pageProblems is how many problems of a case stand in the list of failures; all stand
// with the case.
const pageProblems = 3

// note lists a case where it failed or differs.
func (v *pageView) note(c *pageCase, runs []Run, labels []string) {
	if f := (pageFailure{Case: c, Problems: c.problems(runs, labels)}); len(f.Problems) > 0 {
		v.Failed = append(v.Failed, f)
	}
	switch {
	case c.differs():
		v.Differs = append(v.Differs, pageDifference{Case: c, Rows: c.differentCells(), Reasons: pageNotes("", runs, labels, c.runs, func(r *Case) []string { return pageText(r.Skipped, true) })})
	case len(c.Groups) > 1:
		v.Nuances = append(v.Nuances, c)
	}
}

// problems says why a case failed, on the runs on which it did.
func (c *pageCase) problems(runs []Run, labels []string) []pageNote {
	failed := make([]*Case, len(c.runs))
	for i, r := range c.runs {
		if r != nil && r.Failed() {
			failed[i] = r
		}
	}
	notes := pageNotes("", runs, labels, failed, func(r *Case) []string {
		if texts := r.problems(); len(texts) > 0 {
			return texts
		}
		return []string{"it says no more"}
	})
	if more := len(notes) - pageProblems; more > 0 {
		notes = append(notes[:pageProblems], pageNote{Text: fmt.Sprintf("and %s more", count(more, "problem"))})
	}
	for i := range notes {
		if notes[i].On == "" && len(c.runs) > 1 {
			notes[i].On = c.failedOn(labels)
		}
	}
	return notes
}

func (c *pageCase) failedOn(labels []string) string {
	var names []string
	for i, r := range c.runs {
		if r != nil && r.Failed() {
			names = append(names, labels[i])
		}
	}
	return pageList(names)
}

// differentCells finds the cells in which the truth tables of a case differ, and takes
// from each table the one of its runs.
func (c *pageCase) differentCells() []pageDifferentCell {
	callers, _ := pageLayout(c.runs)
	var first *pageTable
	byRun := make([]*pageTable, len(c.runs))
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
	var out []pageDifferentCell
	for i, in := range first.Inbounds {
		for j, asked := range in.Requests {
			for k := range asked.Cells {
				row := pageDifferentCell{Inbound: in.Name, Request: asked.Text, Caller: callers[k], Cells: make([][]pageCell, len(byRun))}
				differs := false
				for run, t := range byRun {
					if t == nil {
						continue
					}
					for _, cell := range t.Inbounds[i].Requests[j].Cells[k] {
						differs = differs || cell.Differs
						cell.Differs = false // every row here has a difference: a mark would say nothing
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
