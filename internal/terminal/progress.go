package terminal

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/meshproof/meshproof/internal/progress"
)

// Progress tells how many cases have ended, and how many requests were asked. On a terminal
// it is one line that changes. Anywhere else, such as in CI, it is a line each ten seconds.
// Its methods are safe for concurrent use.
type Progress struct {
	writer io.Writer
	// isTerminal says that the line is replaced.
	isTerminal    bool
	requests      progress.Counter
	mu            sync.Mutex
	total         int
	ended, failed int
	// doing says what is being done, and name the case that ended last. first is the first case that failed, in brackets: an interrupted
	// run says no more of it.
	doing, name, first string
	// starting is true until Envoy is known to run.
	starting bool
	stop     func()
}

// How often the line is written.
const onTerminal = 200 * time.Millisecond

var elsewhere = 10 * time.Second

// HideElsewhere writes no progress where there is no terminal. It is for tests, whose output must not depend on
// the speed of the machine. It comes before the first [NewProgress].
func HideElsewhere() { elsewhere = math.MaxInt64 }

// NewProgress shows the progress of so many cases, and that Envoy starts. [Progress.Stop] has
// to be called.
func NewProgress(stderr io.Writer, total int) *Progress {
	interval := elsewhere
	if isTerminal(stderr) {
		interval = onTerminal
	}
	ticker := time.NewTicker(interval)
	return newProgress(stderr, isTerminal(stderr), total, ticker.C, ticker.Stop)
}

// newProgress writes a line at each tick.
func newProgress(out io.Writer, isTerminal bool, total int, ticks <-chan time.Time, stopTicks func()) *Progress {
	p := &Progress{writer: out, isTerminal: isTerminal, total: total}
	stopped := make(chan struct{})
	var ticking sync.WaitGroup
	p.stop = sync.OnceFunc(func() {
		stopTicks()
		close(stopped)
		ticking.Wait()
	})
	p.starting = true
	p.draw()
	ticking.Go(func() {
		for {
			select {
			case <-ticks:
				p.tick()
			case <-stopped:
				return
			}
		}
	})
	return p
}

// Count returns a context whose requests the progress counts.
func (p *Progress) Count(ctx context.Context) context.Context {
	return progress.WithCounter(ctx, &p.requests)
}

// eraseLine returns to the first column and clears the line. It cannot clear a line that
// goes on below, so no line is wrapped.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

// Show says what is being done.
func (p *Progress) Show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.name, p.starting = text, "", false
	p.draw()
}

// End counts a case that has ended.
func (p *Progress) End(name string, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if failed {
		p.failed++
		p.first = cmp.Or(p.first, " ("+Printable(name)+")")
	}
	p.starting = false
	p.doing, p.name = fmt.Sprintf("%s of %s cases, %s failed%s", Number(p.ended), Number(p.total), Number(p.failed), p.first), Printable(name)
	p.draw()
}

func (p *Progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isTerminal {
		p.draw()
	} else {
		fmt.Fprintf(p.writer, "meshproof: %s\n", p.line())
	}
}

// draw replaces the line on a terminal.
func (p *Progress) draw() {
	if p.isTerminal {
		fmt.Fprint(p.writer, eraseLine, noWrap, p.line(), wrap)
	}
}

func (p *Progress) line() string {
	line := p.doing
	asked, due := p.requests.Asked()
	switch {
	case p.starting && asked == 0:
		return cmp.Or(p.requests.Doing(), "starting Envoy")
	case p.starting:
		line = "asking Envoy"
	}
	switch {
	case due > 0:
		line += fmt.Sprintf(", %s of %s requests", Number(int(asked)), Number(int(due)))
	case asked > 0:
		line += fmt.Sprintf(", %s requests", Number(int(asked)))
	}
	if p.name != "" {
		line += ": " + p.name
	}
	return line
}

// Clear clears the line.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isTerminal {
		fmt.Fprint(p.writer, eraseLine)
	}
}

// EraseLine clears the line of a [Progress] that is not stopped any more, because the program ends.
func EraseLine(stderr io.Writer) {
	if isTerminal(stderr) {
		fmt.Fprint(stderr, eraseLine)
	}
}

// Stop ends the progress and clears the line. It may be called more than once.
func (p *Progress) Stop() {
	p.stop()
	p.Clear()
}
