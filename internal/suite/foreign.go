package suite

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/authorizer"
	"github.com/meshproof/meshproof/xds"
)

// Foreign is a compiler that is not meshproof's own: a program, a control plane, or Go code
// of an importer. Its filters are read back, see package examination. The case fails if something
// cannot be read, or if the filters decide something otherwise than the policies.
type Foreign struct {
	CompilerFunc

	// given is an answer that was given before; nil to ask the compiler.
	given *answer
	// remembers is true where the answers are kept, see [Foreign.Remembering].
	remembers bool
	mu        sync.Mutex
	asked     []*asked
}

// Remembering returns the same compiler with a memory of its own for its answers, so that
// [Foreign.AskAgain] can hold later answers against them.
func (f *Foreign) Remembering() *Foreign {
	return &Foreign{CompilerFunc: f.CompilerFunc, remembers: true}
}

// Compile implements [Compiler].
func (f *Foreign) Compile(ctx context.Context, in Input) ([]xds.Filters, error) {
	if f.given != nil {
		return f.given.filters, f.given.refusal
	}
	return f.CompilerFunc.Compile(ctx, in)
}

// answer is what a compiler says about the inbounds of a case.
type answer struct {
	filters []xds.Filters
	// refusal is nil where there are filters.
	refusal error
}

// isLike reports whether Envoy cannot tell two answers apart. The order of maps does not
// matter, and neither do the words of a refusal.
func (a answer) isLike(b answer) bool {
	return (a.refusal == nil) == (b.refusal == nil) && isUnread(a.refusal) == isUnread(b.refusal) && slices.EqualFunc(a.filters, b.filters, sameFilters)
}

func sameFilters(a, b xds.Filters) bool {
	sameRoute := func(a, b xds.Route) bool {
		return a.Name == b.Name && proto.Equal(a.Match, b.Match) && slices.EqualFunc(a.HTTP, b.HTTP, equal)
	}
	return a.RoutesOnly == b.RoutesOnly && slices.EqualFunc(a.Network, b.Network, equal) && slices.EqualFunc(a.HTTP, b.HTTP, equal) && slices.EqualFunc(a.Routes, b.Routes, sameRoute) && proto.Equal(a.Tokens, b.Tokens) &&
		maps.Equal(a.NetworkAsks, b.NetworkAsks) && maps.Equal(a.HTTPAsks, b.HTTPAsks) && a.MTLS == b.MTLS && reflect.DeepEqual(a.Normalization, b.Normalization)
}

// playAuthorizers lets the authorizers that filters ask give no answer where the case says so. That is
// no part of a filter.
func playAuthorizers(filters xds.Filters, known map[string]authorizer.Authorizer) {
	for _, asks := range []map[int]authorizer.Authorizer{filters.NetworkAsks, filters.HTTPAsks} {
		for i, a := range asks {
			a.Unreachable = known[a.Provider].Unreachable
			asks[i] = a
		}
	}
}

func equal[M proto.Message](a, b M) bool { return proto.Equal(a, b) }
