package advisory

import (
	"iter"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// disguises has, for each flaw, the spellings of a refused request that the flaw may let pass.
// The paths are those that policies know.
var disguises = map[behavior.Behavior]func(q cases.Request, paths []string) iter.Seq[cases.Request]{
	behavior.DotParameters: detours,
	behavior.HeaderLines:   secondLines,
	behavior.RegexBytes:    strayBytes,
	behavior.RouteLines:    secondLines,
	// It lets a caller change a bound of time, and no decision.
	behavior.StreamDuration: noRequests,
}

func noRequests(cases.Request, []string) iter.Seq[cases.Request] {
	return func(func(cases.Request) bool) {}
}

// mostPaths bounds the paths through which a detour leads.
const mostPaths = 256

// openPaths returns the paths that the classes of requests have.
func openPaths(cover *classes.Cover) []string {
	paths := []string{"/"}
	for _, class := range cover.Classes {
		path := class.Witness.PathOnly()
		if strings.HasPrefix(path, "/") && !slices.Contains(paths, path) && len(paths) < mostPaths {
			paths = append(paths, path)
		}
	}
	return paths
}

// detours lead through another path and back, by dot segments with a parameter.
func detours(q cases.Request, paths []string) iter.Seq[cases.Request] {
	return func(yield func(cases.Request) bool) {
		for _, path := range paths {
			detour := q
			detour.Path = strings.TrimSuffix(path, "/") + strings.Repeat("/..;", strings.Count(strings.Trim(path, "/"), "/")+1) + q.Path
			if !yield(detour) {
				return
			}
		}
	}
}

// secondLines add another line of a header, in front of the line and behind it.
func secondLines(q cases.Request, _ []string) iter.Seq[cases.Request] {
	return func(yield func(cases.Request) bool) {
		for i, line := range q.Headers {
			for at := range 2 {
				doubled := q
				doubled.Headers = slices.Insert(slices.Clone(q.Headers), i+at, policy.Header{Name: line.Name, Value: "other"})
				if !yield(doubled) {
					return
				}
			}
		}
	}
}

// strayBytes put a byte that is no UTF-8 behind the value of a header, and in front of it.
func strayBytes(q cases.Request, _ []string) iter.Seq[cases.Request] {
	return func(yield func(cases.Request) bool) {
		for i, line := range q.Headers {
			for _, value := range []string{line.Value + "\xff", "\xff" + line.Value} {
				stray := q
				stray.Headers = slices.Clone(q.Headers)
				stray.Headers[i].Value = value
				if !yield(stray) {
					return
				}
			}
		}
	}
}
