package plugin

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
)

const (
	tailLines    = 10
	tailLineSize = 500 // bytes
)

// tail is a writer that keeps the last lines, and of each its beginning.
type tail struct {
	mu   sync.Mutex
	kept []string
	part []byte
}

// Write implements io.Writer; it never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte{'\n'})
		t.part = append(t.part, line[:min(tailLineSize-len(t.part), len(line))]...)
		if found {
			if len(bytes.TrimSpace(t.part)) > 0 {
				t.kept = append(t.kept, printable(t.part))
			}
			t.kept = t.kept[max(0, len(t.kept)-tailLines):]
			t.part = t.part[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (t *tail) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := append([]string(nil), t.kept...)
	if len(bytes.TrimSpace(t.part)) > 0 {
		out = append(out, printable(t.part))
	}
	return out[max(0, len(out)-tailLines):]
}

// printable leaves nothing in the line that a terminal or a report could stumble over.
func printable(line []byte) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\r':
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return unicode.ReplacementChar
		}
	}, strings.ToValidUTF8(string(line), string(unicode.ReplacementChar))), " ")
}
