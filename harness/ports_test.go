package harness

import (
	"errors"
	"testing"
)

func TestSourcesAreNeverLentTwice(t *testing.T) {
	t.Parallel()
	s := newSources()
	seen := map[uint16]bool{}
	for range 1<<16 - firstSource {
		port, err := s.take()
		if err != nil || seen[port] || port < firstSource {
			t.Fatalf("behind %d ports: port %d, %v", len(seen), port, err)
		}
		seen[port] = true
	}
	if port, err := s.take(); !errors.Is(err, errNoSource) {
		t.Errorf("behind all ports: port %d, %v; want %q", port, err, errNoSource)
	}
	// A returned port is found from any place of the search.
	for _, back := range []uint16{40000, 65535, firstSource} {
		s.release(back)
		if port, err := s.take(); port != back || err != nil {
			t.Errorf("port %d, %v; want %d", port, err, back)
		}
	}
}

// A port that was just returned is the last to be lent again. So a late arrival of its old
// caller belongs to no new caller.
func TestSourcesComeBackLate(t *testing.T) {
	t.Parallel()
	s := newSources()
	first, _ := s.take()
	s.release(first)
	if second, _ := s.take(); second == first {
		t.Errorf("port %d is lent twice in a row", first)
	}
}
