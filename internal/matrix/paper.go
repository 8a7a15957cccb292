package matrix

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Sets on paper are made of cases, with other names. The compiler's filters are read back and Envoy is asked
// about those alone that decide something otherwise, so that there may be many: each first character of a name
// has several sets, of different cases.
const (
	paperSets  = 4 * policyset.Turns
	firstPaper = 1 << 16
	// In further sets, values have something to do with each other. Each relation has several of them.
	relatedSets  = 320
	firstRelated = 1 << 24
	paperLanes   = 4
)

// askedRelated is how many of the related sets a run asks about. Short tests ask about fewer.
var askedRelated uint64 = relatedSets

// paper returns the set of that number, and false where none can be made of its case.
func (s *source) paper(number uint64) (cases.Case, bool) {
	if len(s.accepted) == 0 {
		return cases.Case{}, false
	}
	if number >= firstRelated {
		return s.related(number)
	}
	// Where the number of cases and that of turns have a divisor, each turn would have the same few cases.
	return policyset.FromCase(s.accepted[(number+number/policyset.Turns)%uint64(len(s.accepted))], s.suite.Seed, number)
}

// related returns a set whose values have something to do with each other: every other one is made of a case, the
// sets between of drawn policies, which have more fields. It returns false where none can be made that the
// selection admits.
func (s *source) related(number uint64) (cases.Case, bool) {
	of := s.accepted[(number+number/16)%uint64(len(s.accepted))]
	if number%2 == 1 {
		of = policyset.Draw(s.suite.Seed, number, s.forms...)
	}
	c, ok := policyset.Related(of, s.suite.Seed, number)
	return c, ok && (number%2 == 0 || s.admits(c))
}

// onPaper reads back what the compiler answers about further sets, and asks Envoy about the first of those that
// decide otherwise than their policies. It counts the sets, and returns what disagrees.
func (u *underway) onPaper(ctx context.Context, s *source, drawn *result.Drawn) (found []differential.Disagreement, err error) {
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
				// Filters that are too large to be read back whole say nothing, not even those of meshproof.
				unread := err != nil || suspect && !u.ownAgrees(ctx, reading)
				mu.Lock()
				switch {
				case unread:
					drawn.Unread++
				case suspect:
					suspects = append(suspects, number)
					fallthrough
				default:
					drawn.ReadBack++
				}
				mu.Unlock()
			}
		})
	}
	for number := range uint64(paperSets) {
		numbers <- firstPaper + number
	}
	for number := range askedRelated {
		numbers <- firstRelated + number
	}
	close(numbers)
	lanes.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	for _, number := range suspects[:min(len(suspects), mostProblems)] {
		fuzzer := differential.Fuzzer{Runner: u.runner, Seed: s.suite.Seed, KeepSets: true, Draw: func(uint64) (cases.Case, bool) { return s.paper(number) }}
		asked, err := fuzzer.Run(ctx, differential.Limit{Sets: 1})
		if err != nil {
			return found, err
		}
		for i := range asked.Disagreements {
			asked.Disagreements[i].Set = number
		}
		found = append(found, asked.Disagreements...)
		if len(asked.Disagreements) == 0 {
			err = fmt.Errorf("set %d: the filters were not the same when the compiler was asked again, or Envoy does not show what they decide otherwise", number)
			return found, errors.Join(errPaper, err)
		}
	}
	return found, nil
}

// ownAgrees reports whether the filters of meshproof's own compiler can be read back whole, and decide as the policies do.
func (u *underway) ownAgrees(ctx context.Context, reading *verdict.Reading) bool {
	own := u.runner
	own.Compiler = &suite.Foreign{CompilerFunc: func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		return suite.CompileOne(ctx, suite.Reference, in, policies, opts)
	}}
	return own.AgreesOnPaper(ctx, reading)
}

// errPaper says that a set on paper disagrees, and not on Envoy. The machine is sound then.
var errPaper = errors.New("filters that were read back decide otherwise than the policies")
