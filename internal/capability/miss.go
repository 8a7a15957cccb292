package capability

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/meshproof/meshproof/internal/spelling"
)

// Miss is a requirement of a policy that a workload does not meet. Wanted is the one value that the
// policy asks for, and Found what the workload has; both are the same where any of several values would do.
type Miss struct{ Reason, Wanted, Found string }

// NamespaceMiss is the miss of a workload in another namespace.
func NamespaceMiss(asked, there string) Miss {
	return Miss{fmt.Sprintf("it is of namespace %q, the workload of namespace %q", asked, there), asked, there}
}

// LabelMiss is the miss of a workload with another value of a label, or without the label. The
// request says what the selector asks for, and the value is the one that comes nearest to it.
func LabelMiss(request, value string, labels map[string]string, key string) Miss {
	has := "none"
	found, ok := labels[key]
	if ok {
		has = fmt.Sprintf("%q", found)
	}
	return Miss{fmt.Sprintf("its selector asks for %s, the workload has %s", request, has), value, found}
}

// FirstMiss returns the reason of the first miss, "" where there is none.
func FirstMiss(misses iter.Seq[Miss]) string {
	for m := range misses {
		return m.Reason
	}
	return ""
}

// Nearest returns the candidate that a policy comes nearest to, and the reason of its first miss: it
// misses the fewest requirements, and of several candidates it is the closest.
func Nearest[C any](candidates []C, misses func(C) iter.Seq[Miss]) (nearest C, reason string) {
	var least []int
	for _, c := range candidates {
		distance, first := []int{0, 0}, ""
		for m := range misses(c) {
			distance[0]++
			distance[1] += spelling.Distance(m.Wanted, m.Found)
			first = cmp.Or(first, m.Reason)
		}
		if least == nil || slices.Compare(distance, least) < 0 {
			nearest, reason, least = c, first, distance
		}
	}
	return nearest, reason
}
