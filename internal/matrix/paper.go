package matrix

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/differential"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/relation"
	"github.com/meshproof/meshproof/internal/policyset/update"
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
	// Each case that is asked is asked again with other names: what a case shows of its own names, a run shows of others.
	firstRenamed = 1 << 20
	// In further sets, values have something to do with each other. Each relation has several of them.
	relatedSets  = 320
	firstRelated = 1 << 24
	// Sets of a third kind are asked about as they were before an update, and as they are after it.
	updatedSets  = 154
	firstUpdated = 1 << 28
	paperLanes   = 4
)

// askedRenamed is how many cases at most a run asks about with other names, askedRelated how many of the related sets, and
// askedUpdated how many of those with an update. Tests ask about fewer.
var askedRenamed, askedRelated, askedUpdated uint64 = math.MaxUint64, relatedSets, updatedSets

// earlierSet is a set on paper that is asked about before another one, and its number.
type earlierSet struct {
	cases.Case
	number uint64
}

// paper returns the set of that number, and the set that a compiler has to have answered before it, nil for none; false
// where none can be made of its case. Callers in plaintext are let in to the inbounds of every third set, if the compiler claims that and nothing states
// another mode: no compiler is told the mode.
func (s *source) paper(number uint64) (c cases.Case, earlier *earlierSet, ok bool) {
	switch {
	case len(s.accepted) == 0:
		return c, nil, false
	case number >= firstUpdated:
		return s.updated(number)
	case number >= firstRelated:
		c, ok = s.related(number)
	case number >= firstRenamed:
		c, ok = s.renamed(number - firstRenamed)
	default:
		// Where the number of cases and that of turns have a divisor, each turn would have the same few cases.
		c, ok = policyset.FromCase(s.accepted[(number+number/policyset.Turns)%uint64(len(s.accepted))], s.suite.Seed, number)
	}
	if ok && number%3 == 0 {
		c = s.permissive(c)
	}
	return c, nil, ok
}

// permissive returns the set with permissive inbounds, where it may be asked so.
func (s *source) permissive(c cases.Case) cases.Case {
	out := policyset.Permissive(c)
	reading, err := verdict.Read(out)
	if err != nil || !s.claims(out, c) || slices.ContainsFunc(reading.Inbounds(), func(in verdict.Inbound) bool { return in.Program.MTLS != mtls.Unset }) {
		return c
	}
	return out
}

// related returns a set whose values have something to do with each other: every other one is made of a case, the
// sets between of drawn policies, which have more fields. It returns false where none can be made that the
// selection admits.
func (s *source) related(number uint64) (cases.Case, bool) {
	if number%2 == 0 {
		of := s.accepted[(number+number/16)%uint64(len(s.accepted))]
		c, ok := relation.Draw(of, s.suite.Seed, number)
		return c, ok && s.claims(c, of)
	}
	// A compiler that does not claim a feature which many sets need is asked about as many related sets as another one.
	for try := range uint64(mostRelated) {
		of, ok := s.admitted(number+try<<40, policyset.Draw)
		if !ok {
			return of, false
		}
		if c, ok := relation.Draw(of, s.suite.Seed, number); !ok || s.admits(c) {
			return c, ok
		}
	}
	return cases.Case{}, false
}

// mostRelated is how many drawn sets are tried for a relation: with some, it needs a feature that is not claimed.
const mostRelated = 8

// mostBefore is how many sets are tried for an update: not each has a part of the kind whose turn it is.
const mostBefore = 4

// updated returns a set that an update makes of another one, and that one.
func (s *source) updated(number uint64) (c cases.Case, earlier *earlierSet, ok bool) {
	n := number - firstUpdated
	for try := range uint64(mostBefore) {
		before := &earlierSet{number: firstRelated + (n*3+n/8+try*updatedSets)%relatedSets}
		if before.Case, _, ok = s.paper(before.number); !ok {
			continue
		}
		if c, ok := update.Draw(before.Case, s.suite.Seed, number); ok && s.claims(c, before.Case) {
			return c, before, true
		}
	}
	return c, nil, false
}

// onPaper reads back what the compiler answers about further sets, and asks Envoy about the first of those that
// decide otherwise than their policies. It counts the sets, and returns what disagrees.
func (u *underway) onPaper(ctx context.Context, s *source, drawn *result.Drawn) (found []differential.Disagreement, err error) {
	var mu sync.Mutex
	var suspects []uint64
	ask := func(number uint64, c cases.Case, again bool) {
		reading, err := verdict.Read(c)
		suspect := err == nil && !u.runner.AgreesOnPaper(ctx, reading)
		// Filters that are too large to be read back whole say nothing, not even those of meshproof.
		unread := err != nil || suspect && !u.ownAgrees(ctx, reading)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case unread && !again:
			drawn.Unread++
		case !again:
			drawn.ReadBack++
		}
		if suspect && !unread && !slices.Contains(suspects, number) {
			suspects = append(suspects, number)
		}
	}
	numbers := make(chan uint64)
	var lanes sync.WaitGroup
	for range paperLanes {
		lanes.Go(func() {
			for number := range numbers {
				c, earlier, ok := s.paper(number)
				if !ok {
					continue
				}
				if earlier != nil {
					ask(earlier.number, earlier.Case, true)
				}
				ask(number, c, false)
			}
		})
	}
	for number := range uint64(paperSets) {
		numbers <- firstPaper + number
	}
	for number := range min(askedRenamed, uint64(len(s.originals))) {
		numbers <- firstRenamed + number
	}
	for number := range askedRelated {
		numbers <- firstRelated + number
	}
	for number := range askedUpdated {
		numbers <- firstUpdated + number
	}
	close(numbers)
	lanes.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	for _, number := range suspects[:min(len(suspects), mostProblems)] {
		fuzzer := differential.Fuzzer{Runner: u.runner, Seed: s.suite.Seed, KeepSets: true, Draw: func(uint64) (cases.Case, bool) {
			c, _, ok := s.paper(number)
			return c, ok
		}}
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
