package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Labels returns a title for each run, in their order: the version of Envoy, and in
// parentheses the project, the runtime and the shard if the runs differ in them, such as
// "1.40.0" or "1.40.0 (kuma 2.13, container)". Titles that are still equal get the date,
// and then a number, so that no two titles are equal.
func Labels(runs []Run) []string {
	details := make([][]string, len(runs))
	add := func(i int, part string) {
		if part != "" {
			details[i] = append(details[i], part)
		}
	}
	for _, part := range []func(Run) string{Run.Project, func(r Run) string { return r.Runtime }, Run.Part} {
		if Differ(runs, part) {
			for i, r := range runs {
				add(i, part(r))
			}
		}
	}
	labels, count := titles(runs, details), map[string]int{}
	for _, label := range labels {
		count[label]++
	}
	for i, label := range labels {
		if count[label] > 1 {
			add(i, runs[i].Date.UTC().Format(time.DateTime))
		}
	}
	labels = titles(runs, details)
	number(labels)
	return labels
}

// Differ reports whether a part is not the same in all runs.
func Differ(runs []Run, part func(Run) string) bool {
	return slices.ContainsFunc(runs, func(r Run) bool { return part(r) != part(runs[0]) })
}

// Project returns the project and version of the compiler.
func (r Run) Project() string {
	return strings.TrimSpace(r.Implementation.Project + " " + r.Implementation.Version)
}

// Part returns "shard 2/5", or "" for a whole run.
func (r Run) Part() string {
	if r.Shard == "" {
		return ""
	}
	return "shard " + r.Shard
}

func titles(runs []Run, details [][]string) []string {
	out := make([]string, len(runs))
	for i, r := range runs {
		out[i] = r.Envoy
		if details[i] != nil {
			out[i] += " (" + strings.Join(details[i], ", ") + ")"
		}
	}
	return out
}

// number adds a number to labels that have appeared before.
func number(labels []string) {
	taken := map[string]bool{}
	for i, l := range labels {
		unique := l
		for n := 2; taken[unique]; n++ {
			unique = fmt.Sprintf("%s (%d)", l, n)
		}
		taken[unique] = true
		labels[i] = unique
	}
}

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
