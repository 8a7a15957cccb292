package proof

import (
	"context"

	"github.com/meshproof/meshproof/cases"
)

// ShrinkWithin is Shrink with bounds of its own.
func ShrinkWithin(ctx context.Context, tries, candidates int, still func(context.Context, cases.Case) bool, c cases.Case, q cases.Request) cases.Case {
	s := &shrinker{ctx: ctx, still: still, tries: tries, candidates: candidates}
	return s.shrink(c, q)
}
