package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/terminal"
)

// The exit statuses of the command.
const (
	exitDiffers     = 1
	exitUsage       = 2
	exitMachine     = 3
	exitInterrupted = 130
)

// exitError is an error with its exit status. Where err is nil, it has been reported
// already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// machineError marks an error of Envoy or the machine. An error without a mark is bad
// input or usage.
func machineError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{code: exitMachine, err: err}
}

// exitOf stands for the exit status of cases that were printed.
func exitOf(t summary.Tally) error { return exitFor(t.Fault, t.Fails()) }

// exitFor stands for the exit status of a result that was printed. A fault of Envoy or of
// the machine outweighs a decision that differs: nothing is proven.
func exitFor(fault, differs bool) error {
	switch {
	case fault:
		return &exitError{code: exitMachine}
	case differs:
		return &exitError{code: exitDiffers}
	default:
		return nil
	}
}

// withFailure adds a failure of the machine, if any, to the error of a command.
func withFailure(err, failure error) error {
	if failure == nil {
		return err
	}
	if exit := (*exitError)(nil); errors.As(err, &exit) && exit.err == nil {
		err = nil
	}
	return machineError(errors.Join(err, failure))
}

// endError says that a process or a server could not be ended.
type endError struct{ err error }

func (e *endError) Error() string { return e.err.Error() }

func (e *endError) Unwrap() error { return e.err }

// newEndError marks the error, if any, of ending a process or a server.
func newEndError(err error) error {
	if err == nil {
		return nil
	}
	return &endError{err}
}

// exitStatus prints the error, if any, and returns the exit status.
func exitStatus(ctx context.Context, err error, stderr io.Writer) int {
	switch left := (*endError)(nil); {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.As(err, &left):
		terminal.EraseLine(stderr)
		say(stderr, fmt.Errorf("interrupted, but not everything that was started is gone: %w", left))
		return exitInterrupted
	case ctx.Err() != nil:
		terminal.EraseLine(stderr)
		say(stderr, errors.New("interrupted; everything that was started is gone"))
		return exitInterrupted
	}
	code := exitUsage
	if exit := (*exitError)(nil); errors.As(err, &exit) {
		if code = exit.code; exit.err == nil {
			return code
		}
	}
	say(stderr, err)
	return code
}

func say(stderr io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(stderr, "meshproof: %s\n", terminal.Escaped(strings.TrimRight(line, "\n")))
	}
}
