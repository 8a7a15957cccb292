package suite

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/examination"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/xds"
)

// Foreign is a compiler that is not meshproof's own: a program, a control plane, or Go code
// of an importer. Its filters are read back, see package examination: whatever cannot be read,
// and whatever they decide otherwise than the policies, fails the case.
type Foreign struct {
	CompilerFunc

	mu       sync.Mutex
	answered []answered
}

// answered are the filters that a compiler gave for a case.
type answered struct {
	reading *verdict.Reading
	filters []xds.Filters
}

// mostRemembered bounds the answers that are kept, to ask for them again.
const mostRemembered = 512

func (f *Foreign) remember(reading *verdict.Reading, filters []xds.Filters) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.answered) < mostRemembered {
		f.answered = append(f.answered, answered{reading, filters})
	}
}

// AskAgain asks for the filters of all cases once more, in an order that follows from the
// seed, and returns a line for each answer that is worse than the first: a compiler must not
// remember what it was asked before. Other filters that decide as the policies do are as
// good. An error says that the compiler is out of order.
func (f *Foreign) AskAgain(ctx context.Context, seed uint64, anyNames bool) ([]string, error) {
	f.mu.Lock()
	before := slices.Clone(f.answered)
	f.mu.Unlock()
	r := rand.New(rand.NewPCG(seed, uint64(len(before))))
	r.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
	var out []string
	for _, b := range before {
		c := b.reading.Case
		filters, err := f.Compile(ctx, Input{Inbounds: policyInbounds(c), Policies: c.Policies, Options: c.Options})
		switch {
		case isBroken(ctx, err):
			return out, err
		case err != nil:
			out = append(out, fmt.Sprintf("%s: asked again, the compiler refuses the policies: %v", c.Name, err))
			continue
		case slices.EqualFunc(b.filters, filters, sameFilters):
			continue
		}
		x := examination.Of(b.reading, filters, anyNames, 0)
		for _, part := range x.Unread {
			out = append(out, fmt.Sprintf("%s: asked again, the compiler gives other filters: %s", c.Name, part))
		}
		for _, q := range x.Questions {
			if q.Differs {
				out = append(out, fmt.Sprintf("%s: asked again, the compiler gives other filters: %s", c.Name, q))
				break
			}
		}
	}
	return out, nil
}

func sameFilters(a, b xds.Filters) bool {
	return slices.EqualFunc(a.Messages(), b.Messages(), proto.Equal)
}
