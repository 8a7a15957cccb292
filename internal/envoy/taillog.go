package envoy

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"sync"
)

const (
	tailLines    = 20
	tailLineSize = 2048 // bytes
)

// tail is a writer that keeps the last lines of a log, and passes everything on.
type tail struct {
	next io.Writer // optional

	mu    sync.Mutex
	part  []byte
	lines []string
}

// Write implements io.Writer. It never fails: a broken destination must not end Envoy.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.next != nil {
		if _, err := t.next.Write(p); err != nil {
			t.next = nil
		}
	}
	for rest := p; len(rest) > 0; {
		line, after, found := bytes.Cut(rest, []byte{'\n'})
		if room := tailLineSize - len(t.part); room > 0 {
			t.part = append(t.part, line[:min(room, len(line))]...)
		}
		if found {
			t.lines = append(t.lines, string(t.part))
			if len(t.lines) > tailLines {
				t.lines = t.lines[1:]
			}
			t.part = t.part[:0]
		}
		rest = after
	}
	return len(p), nil
}

// logPrefix is what Envoy writes before a message: [time][thread][level][component] [source].
var logPrefix = regexp.MustCompile(`^(\[[^\]]*\])+ (\[[^\]]*\] )?`)

// telling returns the line that says most about an end: the last critical one, else the last error, else the last one.
func (t *tail) telling() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.part) > 0 {
		lines = append(lines[:len(lines):len(lines)], string(t.part))
	}
	best, bestRank := "", -1
	for i, line := range lines {
		rank := 0
		switch {
		case strings.Contains(line, "][critical]"):
			rank = 2
		case strings.Contains(line, "][error]"):
			rank = 1
		}
		if strings.TrimSpace(line) == "" || rank < bestRank {
			continue
		}
		bestRank = rank
		best = line
		// A message of several lines goes on until the next prefix.
		for _, more := range lines[i+1:] {
			if rank == 0 || logPrefix.MatchString(more) || len(best) > tailLineSize {
				break
			}
			best += " " + more
		}
	}
	return oneLine(logPrefix.ReplaceAllString(best, ""))
}
