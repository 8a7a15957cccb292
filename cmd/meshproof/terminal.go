package main

import (
	"io"
	"os"
)

// sink remembers the first error of a writer, so that a result that reached
// nobody is no success.
type sink struct {
	to  io.Writer
	err error
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// isTerminal reports whether w ends on a terminal that understands escape
// sequences.
func isTerminal(w io.Writer) bool {
	if s, ok := w.(*sink); ok {
		w = s.to
	}
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// paint colours what has a sign or a word of its own already: a colour alone
// says nothing. The zero value leaves everything plain.
type paint bool

// paintFor honours NO_COLOR, see https://no-color.org.
func paintFor(w io.Writer) paint { return paint(os.Getenv("NO_COLOR") == "" && isTerminal(w)) }

func (p paint) green(s string) string  { return p.colour("32", s) }
func (p paint) red(s string) string    { return p.colour("31", s) }
func (p paint) yellow(s string) string { return p.colour("33", s) }

func (p paint) colour(code, s string) string {
	if !p {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// mark is the sign of what went as wanted, or did not.
func (p paint) mark(ok bool) string {
	if ok {
		return p.green("✓")
	}
	return p.red("✗")
}

// skip is the sign of what was not run.
func (p paint) skip() string { return p.yellow("○") }
