package children

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

// Tail is a writer that keeps the beginnings of the last lines of a log, and hands everything on to the next
// writer. Lines without a character that is seen are left out.
type Tail struct {
	// Most is how many lines are kept, and LineSize how many bytes of each.
	Most, LineSize int
	// Next is optional.
	Next io.Writer

	mu    sync.Mutex
	part  []byte
	lines []string
}

// Write implements [io.Writer]. It never fails: a broken next writer must not end the child.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Next != nil {
		if _, err := t.Next.Write(p); err != nil {
			t.Next = nil
		}
	}
	for rest := p; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte{'\n'})
		t.part = append(t.part, line[:min(t.LineSize-len(t.part), len(line))]...)
		if found {
			if t.isPartSeen() {
				t.lines = append(t.lines, string(t.part))
			}
			t.lines = t.lines[max(0, len(t.lines)-t.Most):]
			t.part = t.part[:0]
		}
		rest = after
	}
	return len(p), nil
}

// Lines returns the lines that are kept. The last one may have no end yet.
func (t *Tail) Lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := slices.Clone(t.lines)
	if t.isPartSeen() {
		out = append(out, string(t.part))
	}
	return out[max(0, len(out)-t.Most):]
}

// isPartSeen reports whether the line that is under way has a character that is seen.
func (t *Tail) isPartSeen() bool { return len(bytes.TrimSpace(t.part)) > 0 }
