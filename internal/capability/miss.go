package capability

import (
	"fmt"
	"iter"
	"slices"

	"github.com/meshproof/meshproof/internal/spelling"
)

// Reason says why a policy does not select a workload. It is nil where the policy does. It makes its text when it is
// called: most of those who ask for a reason want to know only whether there is one.
type Reason func() string

// ReasonOf returns the reason of a text, nil for the empty text.
func ReasonOf(text string) Reason {
	if text == "" {
		return nil
	}
	return func() string { return text }
}

// String returns the text, "" for nil.
func (r Reason) String() string {
	if r == nil {
		return ""
	}
	return r()
}

// Texts returns the text of each reason.
func Texts(reasons []Reason) []string {
	var out []string
	for _, r := range reasons {
		out = append(out, r.String())
	}
	return out
}

// Miss is a requirement of a policy that a workload does not meet. Wanted is the one value that the
// policy asks for, and Found what the workload has; both are the same where any of several values would do.
type Miss struct {
	Reason        Reason
	Wanted, Found string
}

// PlaceMiss is the miss of a workload in another mesh, zone or namespace; the kind says of which the policy is.
func PlaceMiss(kind, asked, there string) Miss {
	return Miss{func() string { return fmt.Sprintf("it is of %s %q, the workload of %s %q", kind, asked, kind, there) }, asked, there}
}

// LabelMiss is the miss of a workload with another value of a label, or without the label. The
// request says what the selector asks for, and the value is the one that comes nearest to it.
func LabelMiss(request func() string, value, found string, ok bool) Miss {
	return Miss{func() string {
		has := "none"
		if ok {
			has = fmt.Sprintf("%q", found)
		}
		return fmt.Sprintf("the policy asks for %s, the workload has %s", request(), has)
	}, value, found}
}

// FirstMiss returns the reason of the first miss, nil where there is none.
func FirstMiss(misses iter.Seq[Miss]) Reason {
	for m := range misses {
		return m.Reason
	}
	return nil
}

// Nearest returns the candidate that a policy comes nearest to, and the reason of its first miss: it
// misses the fewest requirements, and of several candidates it is the closest.
func Nearest[C any](candidates []C, misses func(C) iter.Seq[Miss]) (nearest C, reason string) {
	var least []int
	for _, c := range candidates {
		distance := []int{0, 0}
		for m := range misses(c) {
			distance[0]++
			distance[1] += spelling.Distance(m.Wanted, m.Found)
		}
		if least == nil || slices.Compare(distance, least) < 0 {
			nearest, least = c, distance
		}
	}
	if least == nil {
		return nearest, ""
	}
	return nearest, FirstMiss(misses(nearest)).String()
}
