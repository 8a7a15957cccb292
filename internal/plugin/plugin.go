package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Options are those of [Start]. The zero value is ready.
type Options struct {
	// Timeout is how long the compiler may be silent while it owes an answer, the
	// greeting included; 10 s where it is zero.
	Timeout time.Duration
	// Meshproof is the version that the compiler is told; "(devel)" where it is empty.
	Meshproof string
}

// Compiler is a running compiler. It is safe for concurrent use.
type Compiler struct {
	command string
	timeout time.Duration
	greeting

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	stderr tail

	ids   atomic.Int64
	lines chan []byte // to be written

	mu       sync.Mutex
	calls    map[int64]*call // those that wait for an answer; the greeting is number 0
	timer    *time.Timer
	deadline time.Time // of the next answer, where a call waits
	cause    *Error    // the first that went wrong
	stopping bool
	grace    time.Duration // for the process to end by itself, once stopping

	stop   chan struct{} // closed when the process has to go
	broken chan struct{} // closed when it is gone; cause is final then
}

const (
	defaultTimeout = 10 * time.Second
	// closeGrace is how long a compiler has to end by itself after its input did.
	closeGrace = 2 * time.Second
	// exitGrace is how long a process that closed its output has to exit.
	exitGrace = 500 * time.Millisecond
)

// Shell is the command line that has /bin/sh run a command, as a user types it.
func Shell(command string) []string { return []string{"/bin/sh", "-c", command} }

// Start runs a command line, of which no shell is asked, and returns once the
// compiler has greeted; see [Shell]. It inherits environment and working directory.
// The end of the context ends it, as [Compiler.Close] does. The error is an [*Error].
func Start(ctx context.Context, command []string, opts Options) (*Compiler, error) {
	c := &Compiler{
		command: strings.Join(command, " "), timeout: opts.Timeout,
		lines: make(chan []byte), calls: map[int64]*call{}, stop: make(chan struct{}), broken: make(chan struct{}),
	}
	if shell := Shell(""); len(command) == len(shell) && command[0] == shell[0] && command[1] == shell[1] {
		c.command = command[2]
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if opts.Meshproof == "" {
		opts.Meshproof = "(devel)"
	}
	// Before the process runs: some greet without waiting to be greeted.
	greeting := &call{answer: make(chan answer, 1)}
	c.register(greeting)
	greet, err := line(hello{Protocol: protocol, Meshproof: opts.Meshproof})
	if err == nil {
		err = c.start(ctx, command)
	}
	if err != nil {
		c.answered(greeting.id)
		return nil, &Error{Command: c.command, Err: fmt.Errorf("start: %w", err)}
	}
	_, err = c.ask(ctx, greet, greeting)
	if err != nil {
		c.end("", err, 0)
		<-c.broken
		return nil, c.cause
	}
	return c, nil
}

// Name is what the compiler calls itself.
func (c *Compiler) Name() string { return c.name }

// Version is the version that the compiler says it has; it may be empty.
func (c *Compiler) Version() string { return c.version }

// Compile implements [suite.Compiler]: it asks the compiler. What the compiler says
// in "error" is the text of the error; a broken compiler is an [*Error].
func (c *Compiler) Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts dialect.Options) (xds.Filters, error) {
	id := c.ids.Add(1)
	ask, err := newRequest(id, in, policies, opts)
	if err != nil {
		return xds.Filters{}, err
	}
	call := &call{id: id, inbound: in, asked: asked(in, policies), answer: make(chan answer, 1)}
	c.register(call)
	a, err := c.ask(ctx, ask, call)
	switch {
	case err == nil:
		return a.filters, a.refusal
	case !errors.As(err, new(*Error)):
		err = fmt.Errorf("plugin: compiler %q, asked for %s: %w", c.command, call.asked, err)
	}
	return xds.Filters{}, err
}

// Close ends the compiler: it closes its input, and after two seconds kills what is
// left of its process group. Requests that wait for an answer get [ErrClosed]. It is
// an error only where the compiler had broken before.
func (c *Compiler) Close() error {
	c.mu.Lock()
	if c.cause == nil {
		c.cause = &Error{Command: c.command, Err: ErrClosed}
	}
	c.mu.Unlock()
	_ = c.stdin.Close()
	kill := time.AfterFunc(closeGrace, func() { c.end("", ErrClosed, 0) })
	defer kill.Stop()
	<-c.broken
	if errors.Is(c.cause, ErrClosed) {
		return nil
	}
	return c.cause
}
