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
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// Options are the options of [Start]. The zero value is ready.
type Options struct {
	// Timeout is the longest time that the compiler may be silent while an answer or the
	// greeting is due. The default is 10 s.
	Timeout time.Duration
	// Meshproof is the version of meshproof in the greeting. The default is "(devel)".
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
	lines chan []byte // the lines to write

	mu       sync.Mutex
	calls    map[int64]*call // the open calls; the greeting is number 0
	timer    *time.Timer
	deadline time.Time // for the next answer, while a call is open
	cause    *Error    // the first failure
	stopping bool
	grace    time.Duration // the time for the process to end by itself, after stopping

	stop   chan struct{} // closed when the process has to end
	broken chan struct{} // closed when the process has ended; cause is then final
}

const (
	defaultTimeout = 10 * time.Second
	// closeGrace is the time that a compiler has to end by itself after the end of its
	// input.
	closeGrace = 2 * time.Second
	// exitGrace is the time that a process has to exit after it closed its output.
	exitGrace = 500 * time.Millisecond
)

// Shell returns the command line that runs a command in /bin/sh, as a user types it.
func Shell(command string) []string { return []string{"/bin/sh", "-c", command} }

// Start runs a command line and returns when the compiler has greeted. It uses no shell;
// see [Shell]. The process inherits environment and working directory. The end of the
// context ends the compiler, as [Compiler.Close] does. The error is an [*Error].
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
	// The greeting is registered before the process runs, because some compilers greet
	// first.
	greeting := &call{answer: make(chan answer, 1)}
	c.register(greeting)
	hello, err := encodeLine(hello{Protocol: protocol, Meshproof: opts.Meshproof})
	if err == nil {
		err = c.start(ctx, command)
	}
	if err != nil {
		c.removeCall(greeting.id)
		return nil, &Error{Command: c.command, Err: fmt.Errorf("start: %w", err)}
	}
	_, err = c.ask(ctx, hello, greeting)
	if err != nil {
		c.end("", err, 0)
		<-c.broken
		return nil, c.cause
	}
	return c, nil
}

// Name returns the name in the greeting of the compiler.
func (c *Compiler) Name() string { return c.name }

// Version returns the version in the greeting of the compiler. It may be empty.
func (c *Compiler) Version() string { return c.version }

// Compile implements [suite.Compiler] and sends a request to the compiler. Its error is
// the text under "error" in the answer, or an [*Error] for a broken compiler.
func (c *Compiler) Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	id := c.ids.Add(1)
	line, err := newRequest(id, in, policies, opts)
	if err != nil {
		return xds.Filters{}, err
	}
	call := &call{id: id, inbound: in, asked: nameRequest(in, policies), answer: make(chan answer, 1)}
	c.register(call)
	a, err := c.ask(ctx, line, call)
	switch {
	case err == nil:
		return a.filters, a.refusal
	case !errors.As(err, new(*Error)):
		err = fmt.Errorf("plugin: compiler %q, asked for %s: %w", c.command, call.asked, err)
	}
	return xds.Filters{}, err
}

// Close closes the input of the compiler, and kills the rest of its process group after
// two seconds. Open requests get [ErrClosed]. The error reports a compiler that broke
// before Close.
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
