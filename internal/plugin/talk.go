package plugin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/meshproof/meshproof/policy"
)

// maxLine bounds an answer, in bytes.
const maxLine = 64 << 20

// call is a request that waits for its answer.
type call struct {
	id      int64
	inbound policy.Inbound
	asked   string
	// answer takes the one answer, be there still somebody who waits for it or not.
	answer chan answer
}

// register makes a call one that an answer is due to.
func (c *Compiler) register(call *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call.id] = call
	if len(c.calls) == 1 {
		c.due()
	}
}

// due gives the compiler its time for the next answer, from now.
func (c *Compiler) due() {
	c.deadline = time.Now().Add(c.timeout)
	if c.timer == nil {
		c.timer = time.AfterFunc(c.timeout, c.silent)
		return
	}
	c.timer.Reset(c.timeout)
}

func (c *Compiler) silent() {
	c.mu.Lock()
	quiet, timeout := len(c.calls) > 0 && !time.Now().Before(c.deadline), c.timeout
	c.mu.Unlock()
	if quiet {
		c.end(c.oldest(), fmt.Errorf("%w: no answer for %s", ErrSilent, timeout), 0)
	}
}

// oldest names the call that has waited longest.
func (c *Compiler) oldest() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first *call
	least := int64(0)
	for id, call := range c.calls {
		if first == nil || id < least {
			first, least = call, id
		}
	}
	if first == nil {
		return ""
	}
	return first.asked
}

// ask sends the line of a call that is registered, and waits for the answer to it. An
// answer to one who has left is still due, for only then are those behind it in time.
func (c *Compiler) ask(ctx context.Context, line []byte, call *call) (answer, error) {
	select {
	case c.lines <- line:
	case <-c.broken:
		return answer{}, c.cause
	case <-ctx.Done():
		c.answered(call.id)
		return answer{}, context.Cause(ctx)
	}
	select {
	case a := <-call.answer:
		return a, nil
	case <-c.broken:
	case <-ctx.Done():
		return answer{}, context.Cause(ctx)
	}
	select {
	case a := <-call.answer: // it came before the end
		return a, nil
	default:
		return answer{}, c.cause
	}
}

// write sends the lines. Its failure tells less than the end of the output does.
func (c *Compiler) write() {
	for {
		select {
		case line := <-c.lines:
			if _, err := c.stdin.Write(line); err != nil {
				c.end(c.oldest(), fmt.Errorf("%w: it takes no input: %w", ErrEnded, err), exitGrace)
				return
			}
		case <-c.stop:
			return
		}
	}
}

// read takes the answers.
func (c *Compiler) read() {
	in := bufio.NewReaderSize(c.stdout, 64<<10)
	for first := true; ; first = false {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errFlood):
			c.end(c.oldest(), err, 0)
			return
		case err != nil:
			c.end(c.oldest(), fmt.Errorf("%w: it closed its output", ErrEnded), exitGrace)
			return
		case first:
			err = c.greet(line)
		default:
			err = c.take(line)
		}
		if err != nil {
			c.end(c.oldest(), err, 0)
			return
		}
	}
}

var errFlood = bad("a line is longer than %d MiB", maxLine>>20)

// readLine reads a line without its end; one that has none is not complete.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errFlood
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return bytes.TrimSuffix(line, []byte{'\n'}), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, io.ErrUnexpectedEOF
		}
	}
}

func (c *Compiler) greet(line []byte) error {
	g, err := readGreeting(line)
	if err != nil {
		return bad("the greeting: %w", err)
	}
	// Nobody waits for it where the context ended before the compiler was greeted.
	if call := c.answered(0); call != nil {
		c.greeting = g
		call.answer <- answer{}
	}
	return nil
}

// take hands an answer to whom it is for. A wrong one is an error of its own
// request; an error here says that it is not known what it answers.
func (c *Compiler) take(line []byte) error {
	id, o, err := readID(line)
	if err != nil {
		return bad("%w", err)
	}
	call := c.answered(id)
	if call == nil {
		return bad("id: no request %d waits for an answer", id)
	}
	a, err := readAnswer(o, call.inbound)
	if err != nil {
		a = answer{refusal: &Error{Command: c.command, Asked: call.asked, Err: bad("%w", err), Stderr: c.stderr.lines()}}
	}
	call.answer <- a
	return nil
}

// answered takes a call off, nil if there is none of that number.
func (c *Compiler) answered(id int64) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[id]
	delete(c.calls, id)
	if len(c.calls) > 0 {
		c.due()
	}
	return call
}
