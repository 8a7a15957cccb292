package terminal

import (
	"fmt"
	"io"
	"sync"
)

// Progress is one line on a terminal that tells how many cases have ended. Anywhere else
// it prints nothing. Its methods are safe for concurrent use.
type Progress struct {
	out           io.Writer
	mu            sync.Mutex
	total         int
	ended, failed int
}

// NewProgress shows the progress of so many cases, and that Envoy starts.
func NewProgress(stderr io.Writer, total int) *Progress {
	p := &Progress{out: io.Discard, total: total}
	if IsTerminal(stderr) {
		p.out = stderr
	}
	p.Show("starting Envoy")
	return p
}

// eraseLine returns to the first column and clears the line. It cannot clear a line that
// goes on below, so no line is wrapped.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

// Show replaces the line.
func (p *Progress) Show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(text)
}

func (p *Progress) show(text string) { fmt.Fprint(p.out, eraseLine, noWrap, text, wrap) }

// End counts a case that has ended.
func (p *Progress) End(name string, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if failed {
		p.failed++
	}
	p.show(fmt.Sprintf("%d of %d cases, %d failed: %s", p.ended, p.total, p.failed, Printable(name)))
}

// Stop clears the line. It may be called more than once.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.out, eraseLine)
}
