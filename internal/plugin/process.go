package plugin

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// start runs the process, and all that talks to it until it is gone.
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
	c.cmd.WaitDelay = exitGrace // for whoever else holds its standard error
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

// run starts the process, waits until it has to go, and leaves nothing of it.
func (c *Compiler) run(ctx context.Context, started chan<- error) {
	runtime.LockOSThread() // see procAttr
	defer runtime.UnlockOSThread()
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	var talking sync.WaitGroup
	talking.Go(c.read)
	talking.Go(c.write)
	forget := context.AfterFunc(ctx, func() { c.end("", fmt.Errorf("%w: %w", ErrClosed, context.Cause(ctx)), 0) })

	<-c.stop
	forget()
	pid := c.cmd.Process.Pid
	exited := exits(pid)
	itself := false
	patience := time.NewTimer(c.grace)
	select {
	case <-exited:
		itself = true
	case <-patience.C:
	}
	patience.Stop()
	// The group's number is its own as long as nobody has waited for its leader.
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	if exited != nil {
		<-exited
	}
	_ = c.cmd.Wait() // its status is looked at below
	talking.Wait()
	c.gone(itself)
}

// end says what went wrong, unless something did before, and that the process has to
// go within a time.
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

// gone completes the cause: of a process that ended by itself, how it ended says more
// than which pipe broke first.
func (c *Compiler) gone(itself bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	killed := status.Signaled() && status.Signal() == syscall.SIGKILL
	if errors.Is(c.cause, ErrEnded) && (itself || !killed) {
		c.cause.Err = fmt.Errorf("%w: %s", ErrEnded, c.cmd.ProcessState)
	}
	c.cause.Stderr = c.stderr.lines()
	close(c.broken)
}
