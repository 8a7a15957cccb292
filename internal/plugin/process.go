package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
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
	c.cmd.Stderr = &c.stderr
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
	err := c.cmd.Start()
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
	c.cause.Stderr = c.stderr.lines()
	close(c.broken)
}

const (
	tailLines    = 10
	tailLineSize = 500 // bytes
)

// tail is a writer that keeps the beginnings of the last lines.
type tail struct {
	mu   sync.Mutex
	kept []string
	part []byte
}

// Write implements [io.Writer]. It never fails.
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

// printable replaces characters that a terminal or a report cannot print.
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
