package counterexample

import (
	"context"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/verdict"
)

// ShrinkWithin is [Shrink] with other bounds.
func ShrinkWithin(ctx context.Context, tries, candidates int, shows func(context.Context, *verdict.Reading) bool, c cases.Case, q cases.Request) cases.Case {
	s := &shrinker{ctx: ctx, shows: shows, tries: tries, candidates: candidates}
	return s.shrink(c, q)
}
