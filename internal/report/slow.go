package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// SlowCase is the time from which a report names a case, even if many cases are slower.
const SlowCase = 2 * time.Second

// Timed is the time of a case in a run.
type Timed struct {
	// Run is the index of the run.
	Run  int
	Case Case
	Took time.Duration
}

// Slow returns the slowest cases of all runs, the slowest first: at least the number that is
// asked for, and every case that took longer than [SlowCase].
func Slow(runs []Run, most int) []Timed {
	var all []Timed
	for i, r := range runs {
		for _, c := range r.Cases {
			all = append(all, Timed{Run: i, Case: c, Took: Took(c.Milliseconds)})
		}
	}
	slices.SortStableFunc(all, func(a, b Timed) int { return cmp.Compare(b.Took, a.Took) })
	n := min(most, len(all))
	for n < len(all) && all[n].Took > SlowCase {
		n++
	}
	return all[:n]
}

func Took(milliseconds float64) time.Duration {
	return time.Duration(milliseconds * float64(time.Millisecond))
}

// Seconds returns a duration as text, such as "114 ms" or "2.4 s".
func Seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
