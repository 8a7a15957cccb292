package report

import (
	"cmp"
	"math"
	"slices"
)

// pageSlowest is how many slow cases the head of the page names; the others stand in
// the table of times.
const pageSlowest = 5

// pageTime is how long a case took on each run.
type pageTime struct {
	Case  *pageCase
	Cells []pageTimeCell
	// Run is the run on which it took longest, Time how long as people read it.
	Run, Time string

	longest float64
}

// pageTimeCell is whole milliseconds on one run, and whether that is more than [SlowCase].
type pageTimeCell struct {
	Text string
	Slow bool
}

// time takes the times of a case; one that no run was to run has none.
func (v *pageView) time(c *pageCase, labels []string) {
	t := pageTime{Case: c, longest: -1}
	for i, r := range c.runs {
		if r == nil {
			t.Cells = append(t.Cells, pageTimeCell{Text: pageAbsent.Sign()})
			continue
		}
		t.Cells = append(t.Cells, pageTimeCell{Text: pageCount(int(math.Round(r.Milliseconds))), Slow: c.Results[i].Slow})
		if r.Milliseconds > t.longest {
			t.longest, t.Run, t.Time = r.Milliseconds, labels[i], c.Results[i].Time
		}
	}
	v.Times = append(v.Times, t)
}

// times puts the slowest case first, and names those that are slow.
func (v *pageView) times() {
	slices.SortStableFunc(v.Times, func(a, b pageTime) int { return cmp.Compare(b.longest, a.longest) })
	for _, t := range v.Times {
		if took(t.longest) > SlowCase {
			v.SlowCases++
		}
	}
	v.Slow = v.Times[:min(v.SlowCases, pageSlowest)]
}

// Unnamed is how many slow cases are not named at the head of the page.
func (v *pageView) Unnamed() int { return v.SlowCases - len(v.Slow) }
