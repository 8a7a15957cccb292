package page

import (
	"cmp"
	"math"
	"slices"

	"github.com/meshproof/meshproof/internal/report"
)

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
		t.Cells = append(t.Cells, timeCell{Text: formatCount(int(math.Round(r.Milliseconds))), Slow: c.Results[i].Slow})
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
