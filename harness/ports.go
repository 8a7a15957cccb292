package harness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/meshproof/meshproof/internal/envoy"
)

// slots lends the ports of one Envoy to meshes, all but the last, which the probe has.
type slots struct{ free chan int }

func newSlots(e *envoy.Envoy) *slots {
	n := probeSlot(e)
	s := &slots{free: make(chan int, n)}
	for i := range n {
		s.free <- i
	}
	return s
}

// probeSlot returns the port of the probe.
func probeSlot(e *envoy.Envoy) int { return e.Slots() - 1 }

// take waits for a free port. Where all ports are lent, a mesh must be closed first.
func (s *slots) take(ctx context.Context) (int, error) {
	// A free port comes before the end of the context: a select would choose one of the two at random.
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

// sources gives each connection a source port of its own. The port tells the connections of
// one harness apart, in the access log and at the upstream.
type sources struct {
	mu    sync.Mutex
	next  uint16
	taken map[uint16]bool
}

const firstSource = 1024

var errNoSource = errors.New("harness: all source ports are under way: send fewer requests at once")

func newSources() *sources { return &sources{next: firstSource, taken: map[uint16]bool{}} }

func (s *sources) take() (uint16, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 1<<16 - firstSource {
		port := s.next
		s.next++
		if s.next == 0 {
			s.next = firstSource
		}
		if !s.taken[port] {
			s.taken[port] = true
			return port, nil
		}
	}
	return 0, errNoSource
}

func (s *sources) release(port uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.taken, port)
}
