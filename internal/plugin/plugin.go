// Package plugin runs a compiler that is written in any language, as a
// [suite.Compiler]. The compiler is a program that reads JSON lines and answers with
// JSON lines.
//
// One process serves all requests. Each line, in both directions, is one JSON
// object; protocol.schema.json describes all of them. meshproof greets, and the compiler
// greets back with the version of the protocol that it speaks. After that each request has an id, and its answer repeats the id:
//
//	→ {"protocol": 1, "protocols": [1, 2], "meshproof": "v1.2.0"}
//	← {"protocol": 2, "name": "my-mesh", "version": "0.3"}
//	→ {"id": 1, "inbound": {…}, "policies": [{…}], "options": {…}}
//	← {"id": 1, "filters": {"network": [{…}], "http": [{…}], "routes": [{"name": "…", "rbac": {…}}]}}
//	→ {"id": 2, "inbound": {…}, "policies": [{…}], "options": {…}}
//	← {"id": 2, "error": "spec.rules[0]: refused, and why"}
//
// The compiler may answer the requests in any order, and several may be open at a time.
// Filters are Envoy's messages in the JSON form of protobuf. The package keeps the last
// lines of standard error for its errors.
//
// The package guarantees that a broken compiler never counts as a compiler that
// refuses policies. A line that is not a complete and correct answer is an [*Error]; the
// text under "error" in an answer is a refusal and no [*Error]. A wrong answer fails its
// own request only. Some failures hide the request of an answer: a line that is no JSON
// object, an unknown id, silence, the end of the process. They end the compiler. It is not
// started again, and each further request gets the same error at once. The process group
// of the compiler always ends with it.
//
// The package does not judge the meaning of filters. Envoy does that.
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

	"github.com/meshproof/meshproof/internal/children"
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
	// Record gets each question as [Question] words it, and its answer. It may be called by
	// several goroutines at once.
	Record func(in policy.Inbound, question, answer []byte)
}

// Compiler is a running compiler. It is safe for concurrent use. Name, Version and Protocol
// are what the compiler says of itself in its greeting.
type Compiler struct {
	command string
	timeout time.Duration
	record  func(in policy.Inbound, question, answer []byte)
	greeting

	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	stderr *children.Tail

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
		command: strings.Join(command, " "), timeout: opts.Timeout, record: opts.Record,
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
	hello, err := encodeLine(newHello(opts.Meshproof))
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

// Compile implements [suite.Compiler] and sends a request to the compiler. Its error is
// the text under "error" in the answer, or an [*Error] for a broken compiler.
func (c *Compiler) Compile(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
	id := c.ids.Add(1)
	line, err := newRequest(c.Protocol, id, in, policies, opts)
	if err != nil {
		return xds.Filters{}, err
	}
	call := &call{id: id, inbound: in, asked: nameRequest(in, policies), answer: make(chan answer, 1)}
	if c.record != nil {
		if call.question, err = Question(c.Protocol, in, policies, opts); err != nil {
			return xds.Filters{}, err
		}
	}
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

// Error says that the compiler is broken: it did not start, it ended, it was silent, or
// it sent a wrong answer. A refusal of policies is never an Error.
type Error struct {
	// Command is the command line of the compiler.
	Command string
	// Asked names the request of the failure: an inbound and the place of its first
	// policy. When the failure belongs to no single request, it names the open request
	// that waited longest. It is empty when no answer was due.
	Asked string
	Err   error
	// Stderr has the last lines that the compiler wrote to standard error.
	Stderr []string
}

// Error returns one line, and one more line for each line of Stderr.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plugin: compiler %q", e.Command)
	if e.Asked != "" {
		fmt.Fprintf(&b, ", asked for %s", e.Asked)
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	for _, line := range e.Stderr {
		b.WriteString("\n\tstderr: " + line)
	}
	return b.String()
}

// Unwrap returns the failure without the request.
func (e *Error) Unwrap() error { return e.Err }

// Broken returns true. An error with this method is no refusal of policies.
func (e *Error) Broken() bool { return true }

// The failures of a compiler. Test for them with [errors.Is].
var (
	// ErrSilent says that the compiler did not answer in time.
	ErrSilent = errors.New("it hangs")
	// ErrEnded says that the process ended, or closed its output.
	ErrEnded = errors.New("it ended")
	// ErrClosed says that [Compiler.Close] was called.
	ErrClosed = errors.New("it was closed")
	// ErrAnswer says that a line of the compiler is no sound answer.
	ErrAnswer = errors.New("bad answer")
)

// badAnswer returns an error that wraps [ErrAnswer].
func badAnswer(format string, a ...any) error {
	return fmt.Errorf("%w: %w", ErrAnswer, fmt.Errorf(format, a...))
}
