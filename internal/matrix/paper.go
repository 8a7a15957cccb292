package matrix

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/verdict"
)

// Sets on paper are made of cases, with other names. The compiler's filters are read back and Envoy is asked
// about those alone that decide something otherwise, so that there may be many: each first character of a name
// has several sets, of different cases.
const (
	paperSets  = 4 * policyset.Turns
	firstPaper = 1 << 16
	paperLanes = 4
)

// paper returns the set of that number, and false where none can be made of its case.
func (s *source) paper(number uint64) (cases.Case, bool) {
	if len(s.accepted) == 0 {
		return cases.Case{}, false
	}
	return policyset.FromCase(s.accepted[number%uint64(len(s.accepted))], s.suite.Seed, number)
}

// onPaper reads back what the compiler answers about further sets, and asks Envoy about the first of those that
// decide otherwise than their policies. It returns the number of sets, and what disagrees.
func (u *underway) onPaper(ctx context.Context, s *source) (sets int, found []differential.Disagreement, err error) {
	var mu sync.Mutex
	var suspects []uint64
	numbers := make(chan uint64)
	var lanes sync.WaitGroup
	for range paperLanes {
		lanes.Go(func() {
			for number := range numbers {
				c, ok := s.paper(number)
				if !ok {
					continue
				}
				reading, err := verdict.Read(c)
				suspect := err == nil && !u.runner.AgreesOnPaper(ctx, reading)
				mu.Lock()
				if sets++; suspect {
					suspects = append(suspects, number)
				}
				mu.Unlock()
			}
		})
	}
	for number := range uint64(paperSets) {
		numbers <- firstPaper + number
	}
	close(numbers)
	lanes.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return sets, nil, cause
	}
	for _, number := range suspects[:min(len(suspects), mostProblems)] {
		fuzzer := differential.Fuzzer{Runner: u.runner, Seed: s.suite.Seed, KeepSets: true, Draw: func(uint64) (cases.Case, bool) { return s.paper(number) }}
		drawn, err := fuzzer.Run(ctx, differential.Limit{Sets: 1})
		if err != nil {
			return sets, found, err
		}
		for i := range drawn.Disagreements {
			drawn.Disagreements[i].Set = number
		}
		found = append(found, drawn.Disagreements...)
		if len(drawn.Disagreements) == 0 {
			err = fmt.Errorf("set %d: the filters were not the same when the compiler was asked again, or Envoy does not show what they decide otherwise", number)
			return sets, found, errors.Join(errPaper, err)
		}
	}
	return sets, found, nil
}

// errPaper says that a set on paper disagrees, and not on Envoy. The machine is sound then.
var errPaper = errors.New("filters that were read back decide otherwise than the policies")
