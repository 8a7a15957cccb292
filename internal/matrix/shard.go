package matrix

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
	"github.com/meshproof/meshproof/internal/report"
)

// Shard is one part of the cases, so that several machines share them. The zero
// value is all of them.
type Shard struct{ part report.Shard }

// completionIndex is what Kubernetes sets in each pod of an Indexed Job, from 0.
const completionIndex = "JOB_COMPLETION_INDEX"

// UnmarshalText reads "2/5", the second part of five; or "job/5", the part whose
// index Kubernetes gives the pod of an Indexed Job in JOB_COMPLETION_INDEX. There are
// [report.MostShards] parts at most.
func (s *Shard) UnmarshalText(text []byte) error {
	written := string(text)
	if of, job := strings.CutPrefix(written, "job/"); job {
		number, err := jobIndex()
		if err != nil {
			return fmt.Errorf("shard %q: %w", text, err)
		}
		written = strconv.Itoa(number) + "/" + of
	}
	part, err := report.ParseShard(written)
	if err != nil {
		return err
	}
	*s = Shard{part}
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
func (s Shard) String() string { return s.part.String() }

// Pick returns the part of the cases, in their order. All parts together are the
// cases, none twice, and take about the same time by the costs: the most costly case
// goes first, each to the part that has least to do. The same cases and costs give
// the same parts on every machine. Of more parts than cases, the last ones are empty.
func (s Shard) Pick(all []cases.Case, cost func(cases.Case) time.Duration) []cases.Case {
	if s.part.Of == 0 {
		return all
	}
	// Each case goes to a part of its own until every part has one.
	parts := min(s.part.Of, len(all))
	if s.part.Number > parts {
		return nil
	}
	costs := make([]time.Duration, len(all))
	order := make([]int, len(all))
	for i, c := range all {
		costs[i], order[i] = cost(c), i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(costs[b], costs[a]), strings.Compare(all[a].Name, all[b].Name))
	})
	load := make([]time.Duration, parts)
	mine := make([]bool, len(all))
	for _, i := range order {
		least := 0
		for part := range load {
			if load[part] < load[least] {
				least = part
			}
		}
		load[least] += costs[i]
		mine[i] = least == s.part.Number-1
	}
	var out []cases.Case
	for i, c := range all {
		if mine[i] {
			out = append(out, c)
		}
	}
	return out
}
