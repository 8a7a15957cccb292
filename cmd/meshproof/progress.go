package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// progress is one line on a terminal that tells how far the run is; anywhere else
// it stays silent.
type progress struct {
	out           io.Writer
	mu            sync.Mutex
	total         int
	ended, failed int
}

func newProgress(stderr io.Writer, total int) *progress {
	p := &progress{out: io.Discard, total: total}
	if terminal.IsTerminal(stderr) {
		p.out = stderr
	}
	p.line("starting Envoy")
	return p
}

// eraseLine returns to the first column and clears what stands there. A line that
// went on below could not be erased, so none is wrapped.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

func (p *progress) line(text string) { fmt.Fprint(p.out, eraseLine, noWrap, text, wrap) }

func (p *progress) done(_ string, r result.Case) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if r.Failed() {
		p.failed++
	}
	p.line(fmt.Sprintf("%d of %d cases, %d failed: %s", p.ended, p.total, p.failed, terminal.Printable(r.Case.Name)))
}

// stop clears the line; it may be called more than once.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.out, eraseLine)
}
