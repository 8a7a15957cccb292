package suite

import (
	"context"
	"time"

	"github.com/meshproof/meshproof/internal/verdict"
)

// AgreesOnPaper asks the compiler for the filters of a case, reads them back, and reports whether they decide as
// the policies do. Envoy is asked nothing, and later the compiler is not asked again. Where the result is false,
// [Runner.Reading] says why.
func (r Runner) AgreesOnPaper(ctx context.Context, reading *verdict.Reading) bool {
	if foreign, ok := r.Compiler.(*Foreign); ok {
		r.Compiler = &Foreign{CompilerFunc: foreign.CompilerFunc}
	}
	one := r.newReadingRun(reading, time.Now())
	one.compile(ctx)
	x := one.examination
	return one.result.Err == nil && (x == nil || x.Differing+x.Plaintext == 0 && len(x.Unread) == x.Doubts)
}
