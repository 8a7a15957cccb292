package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/meshproof/meshproof/internal/report"
)

// mostSlow is how many slow cases the head of the page names; the others stand in
// the table of times.
const mostSlow = 5

// caseTime is how long a case took on each run.
type caseTime struct {
	Case  *caseView
	Cells []timeCell
	// Run is the run on which it took longest, Time how long as people read it.
	Run, Time string

	longest float64
}

// timeCell is whole milliseconds on one run, and whether that is more than [SlowCase].
type timeCell struct {
	Text string
	Slow bool
}

// time takes the times of a case; one that no run was to run has none.
func (v *view) time(c *caseView, labels []string) {
	t := caseTime{Case: c, longest: -1}
	for i, r := range c.runs {
		if r == nil {
			t.Cells = append(t.Cells, timeCell{Text: absent.Sign()})
			continue
		}
		t.Cells = append(t.Cells, timeCell{Text: formatCount(int(math.Round(r.Milliseconds))), Slow: c.Results[i].Slow})
		if r.Milliseconds > t.longest {
			t.longest, t.Run, t.Time = r.Milliseconds, labels[i], c.Results[i].Time
		}
	}
	v.Times = append(v.Times, t)
}

// times puts the slowest case first, and names those that are slow.
func (v *view) times() {
	slices.SortStableFunc(v.Times, func(a, b caseTime) int { return cmp.Compare(b.longest, a.longest) })
	for _, t := range v.Times {
		if report.Took(t.longest) > report.SlowCase {
			v.SlowCases++
		}
	}
	v.Slow = v.Times[:min(v.SlowCases, mostSlow)]
}

// Unnamed is how many slow cases are not named at the head of the page.
func (v *view) Unnamed() int { return v.SlowCases - len(v.Slow) }
