package plugin

import (
	"errors"
	"fmt"
	"strings"
)

// Error says that the compiler is broken: it could not be started, it ended, it was
// silent, or it answered what is no answer. That policies are refused never is one.
type Error struct {
	// Command is what was started.
	Command string
	// Asked is what the compiler owed an answer to, an inbound and the place of its
	// first policy; of several requests the one that waited longest, unless one of them
	// is to blame. It is empty where no answer was due.
	Asked string
	Err   error
	// Stderr has the last lines that the compiler wrote to standard error.
	Stderr []string
}

// Error is one line, and one more for each of standard error.
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

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// Broken is true: an error with this method is no refusal of policies, whatever its
// text says.
func (e *Error) Broken() bool { return true }

// The ways in which a compiler breaks that no single answer is to blame for.
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

func bad(format string, a ...any) error {
	return fmt.Errorf("%w: %w", ErrAnswer, fmt.Errorf(format, a...))
}
