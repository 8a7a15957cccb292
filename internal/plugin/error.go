package plugin

import (
	"errors"
	"fmt"
	"strings"
)

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
