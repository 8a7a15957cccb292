package harness

import (
	"context"
	"fmt"

	"github.com/meshproof/meshproof/internal/envoy"
)

// slots lends the ports of one Envoy to meshes.
type slots struct{ free chan int }

func newSlots(e *envoy.Envoy) *slots {
	s := &slots{free: make(chan int, e.Slots())}
	for i := range e.Slots() {
		s.free <- i
	}
	return s
}

// take waits for a free port. Where all ports are lent, a mesh must be closed first.
func (s *slots) take(ctx context.Context) (int, error) {
	select {
	case i := <-s.free:
		return i, nil
	default:
	}
	select {
	case i := <-s.free:
		return i, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("harness: all %d ports of Envoy are lent to other meshes: %w", cap(s.free), context.Cause(ctx))
	}
}

func (s *slots) release(i int) { s.free <- i }
