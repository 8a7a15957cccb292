package plugin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/meshproof/meshproof/internal/children"
	"github.com/meshproof/meshproof/policy"
)

// start starts the process and the goroutines that read and write its pipes.
func (c *Compiler) start(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return exec.ErrNotFound
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	c.cmd = exec.Command(command[0], command[1:]...)
	c.stderr = newTail()
	c.cmd.Stderr = c.stderr
	c.cmd.SysProcAttr = procAttr()
	c.cmd.WaitDelay = exitGrace // a child process may hold its standard error open
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if c.stdout, err = c.cmd.StdoutPipe(); err != nil {
		return err
	}
	started := make(chan error)
	go c.run(ctx, started)
	return <-started
}

// run starts the process, waits until it has to end, and removes its process group.
func (c *Compiler) run(ctx context.Context, started chan<- error) {
	runtime.LockOSThread() // see procAttr
	defer runtime.UnlockOSThread()
	err := children.Adopt()
	if err == nil {
		err = children.Start(c.cmd)
	}
	started <- err
	if err != nil {
		return
	}
	var pipes sync.WaitGroup
	pipes.Go(c.read)
	pipes.Go(c.write)
	stopWatch := context.AfterFunc(ctx, func() { c.end("", fmt.Errorf("%w: %w", ErrClosed, context.Cause(ctx)), 0) })

	<-c.stop
	stopWatch()
	pid := c.cmd.Process.Pid
	exited := exits(pid)
	bySelf := false
	patience := time.NewTimer(c.grace)
	select {
	case <-exited:
		bySelf = true
	case <-patience.C:
	}
	patience.Stop()
	// The process ID of the leader is not used again before Wait, so this kills no other
	// group.
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	if exited != nil {
		<-exited
	}
	_ = c.cmd.Wait() // finish reads its status
	children.Forget(c.cmd)
	children.EndStrays()
	pipes.Wait()
	c.finish(bySelf)
}

// end stops the process within the grace time. It records the failure, unless an earlier
// failure is recorded.
func (c *Compiler) end(asked string, err error, grace time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = &Error{Command: c.command, Asked: asked, Err: err}
	}
	if !c.stopping {
		c.stopping, c.grace = true, grace
		close(c.stop)
	}
}

// finish completes the cause. For a process that ended by itself, its exit status says
// more than the first broken pipe.
func (c *Compiler) finish(bySelf bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed := status.Signaled() && status.Signal() == syscall.SIGKILL
	if errors.Is(c.cause, ErrEnded) && (bySelf || !killed) {
		c.cause.Err = fmt.Errorf("%w: %s", ErrEnded, c.cmd.ProcessState)
	}
	c.cause.Stderr = printableLines(c.stderr)
	close(c.broken)
}

const (
	tailLines    = 10
	tailLineSize = 500 // bytes
)

// newTail returns a writer that keeps the last lines of a compiler's standard error.
func newTail() *children.Tail { return &children.Tail{Most: tailLines, LineSize: tailLineSize} }

// printableLines returns the lines that were kept, as a terminal or a report can print them.
func printableLines(of *children.Tail) []string {
	lines := of.Lines()
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return lines
}

// printable replaces characters that a terminal or a report cannot print.
func printable(line string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\r':
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return unicode.ReplacementChar
		}
	}, strings.ToValidUTF8(line, string(unicode.ReplacementChar))), " ")
}

// maxLine is the longest line of an answer, in bytes.
const maxLine = 64 << 20

// call is a request that waits for its answer.
type call struct {
	id      int64
	inbound policy.Inbound
	asked   string
	// question is there where the answer is recorded.
	question []byte
	// answer has room for the answer, so a late answer needs no reader.
	answer chan answer
}

// register adds an open call: an answer is now due.
func (c *Compiler) register(call *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[call.id] = call
	if len(c.calls) == 1 {
		c.startTimer()
	}
}

// startTimer starts the time for the next answer again.
func (c *Compiler) startTimer() {
	c.deadline = time.Now().Add(c.timeout)
	if c.timer == nil {
		c.timer = time.AfterFunc(c.timeout, c.checkSilence)
		return
	}
	c.timer.Reset(c.timeout)
}

// checkSilence ends the compiler when no answer came before the deadline.
func (c *Compiler) checkSilence() {
	c.mu.Lock()
	quiet, timeout := len(c.calls) > 0 && !time.Now().Before(c.deadline), c.timeout
	c.mu.Unlock()
	if quiet {
		c.end(c.oldestCall(), fmt.Errorf("%w: no answer for %s", ErrSilent, timeout), 0)
	}
}

// oldestCall names the call that has waited longest.
func (c *Compiler) oldestCall() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.calls) == 0 {
		return ""
	}
	return c.calls[slices.Min(slices.Collect(maps.Keys(c.calls)))].asked
}

// ask sends the line of a registered call and waits for its answer. When the context
// ends, the call stays open and its answer stays due, so the time of the later answers
// is still measured.
func (c *Compiler) ask(ctx context.Context, line []byte, call *call) (answer, error) {
	select {
	case c.lines <- line:
	case <-c.broken:
		return answer{}, c.cause
	case <-ctx.Done():
		c.removeCall(call.id)
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
	case a := <-call.answer: // the answer came before the end
		return a, nil
	default:
		return answer{}, c.cause
	}
}

// write sends the lines. After a failure the reader of the output has time to find a
// better reason.
func (c *Compiler) write() {
	for {
		select {
		case line := <-c.lines:
			if _, err := c.stdin.Write(line); err != nil {
				c.end(c.oldestCall(), fmt.Errorf("%w: it reads no input: %w", ErrEnded, err), exitGrace)
				return
			}
		case <-c.stop:
			return
		}
	}
}

// read reads the greeting and then the answers.
func (c *Compiler) read() {
	in := bufio.NewReaderSize(c.stdout, 64<<10)
	for first := true; ; first = false {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errLongLine):
			c.end(c.oldestCall(), err, 0)
			return
		case err != nil:
			c.end(c.oldestCall(), fmt.Errorf("%w: it closed its output", ErrEnded), exitGrace)
			return
		case first:
			err = c.acceptGreeting(line)
		default:
			err = c.deliver(line)
		}
		if err != nil {
			c.end(c.oldestCall(), err, 0)
			return
		}
	}
}

var errLongLine = badAnswer("a line is longer than %d MiB", maxLine>>20)

// readLine reads a line and removes its end. A line without an end is an error.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errLongLine
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

func (c *Compiler) acceptGreeting(line []byte) error {
	g, err := readGreeting(line)
	if err != nil {
		return badAnswer("the greeting: %w: the first line of a compiler is as in {\"protocol\": 1, \"name\": \"mine\", \"version\": \"1\"}, see docs/compilers.md", err)
	}
	// There is no call when the context ended before the greeting was sent.
	if call := c.removeCall(0); call != nil {
		c.greeting = g
		call.answer <- answer{}
	}
	return nil
}

// deliver gives an answer to its call. A wrong answer is an error of that call. Deliver
// itself fails when the call of the answer is not known.
func (c *Compiler) deliver(line []byte) error {
	id, o, err := readID(line)
	if err != nil {
		return badAnswer("%w", err)
	}
	call := c.removeCall(id)
	if call == nil {
		return badAnswer("id: no request %d waits for an answer", id)
	}
	a, err := readAnswer(c.Protocol, o, call.inbound)
	if err == nil && call.question != nil {
		delete(o, "id")
		if line, err = json.Marshal(o); err == nil {
			c.record(call.inbound, call.question, line)
		}
	}
	switch {
	case errors.As(err, new(*unreadError)):
		a = answer{refusal: err}
	case err != nil:
		a = answer{refusal: &Error{Command: c.command, Asked: call.asked, Err: badAnswer("%w", err), Stderr: printableLines(c.stderr)}}
	}
	call.answer <- a
	return nil
}

// removeCall removes an open call and returns it, or nil when there is none with the
// number.
func (c *Compiler) removeCall(id int64) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.calls[id]
	delete(c.calls, id)
	if len(c.calls) > 0 {
		c.startTimer()
	}
	return call
}
