package upstream

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/script"
)

// play is an answer by script under way.
type play struct {
	script.Answer
	account *Account
	arrival *arrival.Record
	began   time.Time
	due     time.Duration
}

// Play gives the answers to all further requests of the account a script.
func (a *Account) Play(s script.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.script = s
}

// start begins the clock of the script.
func (a *Account) start(record *arrival.Record) *play {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.playing == 0 {
		a.idle = make(chan struct{})
	}
	a.playing++
	now := time.Now()
	record.Timing = &arrival.Timing{Began: now}
	return &play{Answer: a.script, account: a, arrival: record, began: now}
}

func (p *play) end() {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.playing--; a.playing == 0 {
		close(a.idle)
	}
}

// note changes the timing.
func (p *play) note(change func(*arrival.Timing)) {
	p.account.mu.Lock()
	defer p.account.mu.Unlock()
	changed := *p.arrival.Timing
	change(&changed)
	p.arrival.Timing = &changed
}

// wait waits for a time after the last step. It reports false where the other side ended the
// request before.
func (p *play) wait(gone <-chan struct{}, d time.Duration) bool {
	p.due += d
	timer := time.NewTimer(time.Until(p.began.Add(p.due)))
	defer timer.Stop()
	here := true
	select {
	case <-timer.C:
	case <-gone:
		here = false
	}
	now := time.Since(p.began)
	p.note(func(t *arrival.Timing) {
		t.Delay = max(t.Delay, now-p.due)
		if here {
			t.Sent = append(t.Sent[:len(t.Sent):len(t.Sent)], now)
		} else {
			t.Cut = now
		}
	})
	return here
}

// stay keeps a request that gets nothing more, until the other side ends it.
func (p *play) stay(gone <-chan struct{}) {
	<-gone
	now := time.Since(p.began)
	p.note(func(t *arrival.Timing) { t.Cut = now })
}

// Wait waits until each answer by script has ended. Without it the timing of an answer that was
// cut may come too late for Take.
func (a *Account) Wait(ctx context.Context) error {
	a.mu.Lock()
	idle := a.idle
	a.mu.Unlock()
	if idle == nil {
		return nil
	}
	return wait(ctx, idle)
}

// Part is a part of a body by script.
const Part = "part\n"

// messageHead is the length of what stands in front of a message of gRPC: whether it is compressed, and its length.
const messageHead = 5

// message is the text as a message of gRPC without compression.
func message(text string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(text))), text...)
}

// readMessage reads a message of gRPC with its head, as far as it comes.
func readMessage(body io.Reader) []byte {
	head := make([]byte, messageHead)
	if _, err := io.ReadFull(body, head); err != nil {
		return head
	}
	text, _ := io.ReadAll(io.LimitReader(body, int64(binary.BigEndian.Uint32(head[1:]))))
	return append(head, text...)
}

// answerHTTP plays the script of an HTTP request, or of a gRPC call. The clock begins at the end
// of the request; of a gRPC call behind its first message, because a stream may stay open.
func (a *Account) answerHTTP(w http.ResponseWriter, r *http.Request, body *countingBody, isGRPC bool) {
	var echo []byte
	if isGRPC {
		echo = readMessage(body)
	} else {
		echo, _ = io.ReadAll(body)
	}
	p := a.start(body.arrival)
	defer p.end()
	gone := r.Context().Done()
	if !p.HasHeaders() {
		if p.End == script.Stops {
			p.stay(gone)
		}
		panic(http.ErrAbortHandler)
	}
	if !p.wait(gone, p.After) {
		panic(http.ErrAbortHandler)
	}
	if isGRPC {
		w.Header().Set("content-type", "application/grpc")
		w.Header().Set("trailer", "grpc-status")
	}
	flush := func() { _ = http.NewResponseController(w).Flush() }
	if p.Parts == 0 {
		_, _ = w.Write(echo)
	} else {
		w.WriteHeader(http.StatusOK)
		flush()
	}
	for range p.Parts {
		if !p.wait(gone, p.Every) {
			panic(http.ErrAbortHandler)
		}
		text := []byte(Part)
		if isGRPC {
			text = message(Part)
		}
		_, _ = w.Write(text)
		flush()
	}
	switch p.End {
	case script.Stops:
		p.stay(gone)
		panic(http.ErrAbortHandler)
	case script.Closes:
		panic(http.ErrAbortHandler)
	}
	if isGRPC {
		w.Header().Set("grpc-status", "0")
	}
}

// answerTCP plays the script behind the first bytes of a connection, in a goroutine of its own
// until gone is closed. What is sent to the result is echoed once the script lets it.
func (a *Account) answerTCP(c *tcpConn, record *arrival.Record, gone <-chan struct{}) *heldEcho {
	out := &heldEcho{writer: c, ended: make(chan struct{})}
	p := a.start(record)
	go func() {
		defer close(out.ended)
		defer p.end()
		p.due = p.After
		pause := time.Duration(0)
		if p.Parts > 0 {
			pause = p.Every
		}
		for range max(p.Parts, 1) {
			switch {
			case !p.HasHeaders():
			case !p.wait(gone, pause):
				return
			case p.Parts > 0:
				_, _ = io.WriteString(c, Part)
			}
		}
		switch p.End {
		case script.Complete:
			out.release()
		case script.Stops:
			p.stay(gone)
		case script.Closes:
			_ = c.Close()
		}
	}()
	return out
}

// heldEcho keeps what is written to it until it is released.
type heldEcho struct {
	writer io.Writer
	// ended is closed when the script has ended.
	ended chan struct{}

	mu       sync.Mutex
	released bool
	held     []byte
}

func (e *heldEcho) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.released {
		return e.writer.Write(p)
	}
	e.held = append(e.held, p...)
	return len(p), nil
}

func (e *heldEcho) release() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.released = true
	_, _ = e.writer.Write(e.held)
}
