package counterexample

import (
	"context"

	"github.com/meshproof/meshproof/cases"
)

// ShrinkWithin is [Shrink] with other bounds.
func ShrinkWithin(ctx context.Context, tries, candidates int, shows func(context.Context, cases.Case) bool, c cases.Case, q cases.Request) cases.Case {
	s := &shrinker{ctx: ctx, shows: shows, tries: tries, candidates: candidates}
	return s.shrink(c, q)
}
