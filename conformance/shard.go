package conformance

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshproof/meshproof/cases"
)

// Shard is one part of the cases, so that several machines share them. The zero
// value is all of them.
type Shard struct{ index, of int }

// completionIndex is what Kubernetes sets in each pod of an Indexed Job, from 0.
const completionIndex = "JOB_COMPLETION_INDEX"

// UnmarshalText reads "2/5", the second part of five; or "job/5", the part whose
// index Kubernetes gives the pod of an Indexed Job in JOB_COMPLETION_INDEX.
func (s *Shard) UnmarshalText(text []byte) error {
	first, second, found := strings.Cut(string(text), "/")
	of, err := strconv.Atoi(second)
	if !found || err != nil || of < 1 {
		return fmt.Errorf("shard %q: write 2/5 for the second part of five, or job/5 in a pod of an Indexed Job", text)
	}
	index, err := strconv.Atoi(first)
	if first == "job" {
		index, err = jobIndex()
	}
	if err != nil || index < 1 || index > of {
		return fmt.Errorf("shard %q: %w", text, cmp.Or(err, fmt.Errorf("the parts are 1 to %d", of)))
	}
	*s = Shard{index, of}
	return nil
}

func jobIndex() (int, error) {
	text, ok := os.LookupEnv(completionIndex)
	if !ok {
		return 0, errors.New(completionIndex + " is not set: is this a pod of an Indexed Job?")
	}
	index, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", completionIndex, err)
	}
	return index + 1, nil
}

// String returns "2/5", or "" for the zero value.
func (s Shard) String() string {
	if s.of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.index, s.of)
}

// Pick returns the part of the cases, in their order. All parts together are the
// cases, none twice, and take about the same time by the costs: the most costly case
// goes first, each to the part that has least to do. The same cases and costs give
// the same parts on every machine.
func (s Shard) Pick(all []cases.Case, cost func(cases.Case) time.Duration) []cases.Case {
	if s.of == 0 {
		return all
	}
	costs := make([]time.Duration, len(all))
	order := make([]int, len(all))
	for i, c := range all {
		costs[i], order[i] = cost(c), i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), strings.Compare(all[a].Name, all[b].Name))
	})
	load := make([]time.Duration, s.of)
	mine := make([]bool, len(all))
	for _, i := range order {
		least := 0
		for part := range load {
			if load[part] < load[least] {
				least = part
			}
		}
		load[least] += costs[i]
		mine[i] = least == s.index-1
	}
	var out []cases.Case
	for i, c := range all {
		if mine[i] {
			out = append(out, c)
		}
	}
	return out
}
