// Package terminal prints what people read: signs and colours, tables, counted nouns,
// words for a shell, and the JSON form of results.
//
// It guarantees that text from a file cannot steer a terminal, see [Printable], and that
// a failed write is not lost, see [Output]. It knows nothing of what is printed.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
)

// Output remembers the first error of a writer. A command whose result could not be
// written has failed.
type Output struct {
	To  io.Writer
	Err error
}

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.To.Write(p)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// IsTerminal reports whether w is a terminal that understands escape sequences. It looks
// through an [Output].
func IsTerminal(w io.Writer) bool {
	if o, ok := w.(*Output); ok {
		w = o.To
	}
	file, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Paint says whether text is coloured. A colour never stands alone: a sign or a word says
// the same. The zero value prints plain text.
type Paint bool

// PaintFor colours the text for a terminal, unless NO_COLOR is set, see
// https://no-color.org.
func PaintFor(w io.Writer) Paint { return Paint(os.Getenv("NO_COLOR") == "" && IsTerminal(w)) }

// Green, Red and Yellow colour a text.
func (p Paint) Green(s string) string  { return p.colour("32", s) }
func (p Paint) Red(s string) string    { return p.colour("31", s) }
func (p Paint) Yellow(s string) string { return p.colour("33", s) }

const escape = "\x1b["

func (p Paint) colour(code, s string) string {
	if !p {
		return s
	}
	return escape + code + "m" + s + escape + "0m"
}

// Mark is the sign of what went as wanted, or did not.
func (p Paint) Mark(ok bool) string {
	if ok {
		return p.Green("✓")
	}
	return p.Red("✗")
}

// Skip is the sign of what was not run.
func (p Paint) Skip() string { return p.Yellow("○") }

// Progress is one line on a terminal that tells how many cases have ended. Anywhere else
// it prints nothing. Its methods are safe for concurrent use.
type Progress struct {
	out           io.Writer
	mu            sync.Mutex
	total         int
	ended, failed int
}

// NewProgress shows the progress of so many cases, and that Envoy starts.
func NewProgress(stderr io.Writer, total int) *Progress {
	p := &Progress{out: io.Discard, total: total}
	if IsTerminal(stderr) {
		p.out = stderr
	}
	p.Show("starting Envoy")
	return p
}

// eraseLine returns to the first column and clears the line. It cannot clear a line that
// goes on below, so no line is wrapped.
const (
	eraseLine = "\r\x1b[K"
	noWrap    = "\x1b[?7l"
	wrap      = "\x1b[?7h"
)

// Show replaces the line.
func (p *Progress) Show(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show(text)
}

func (p *Progress) show(text string) { fmt.Fprint(p.out, eraseLine, noWrap, text, wrap) }

// End counts a case that has ended.
func (p *Progress) End(name string, failed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	if failed {
		p.failed++
	}
	p.show(fmt.Sprintf("%d of %d cases, %d failed: %s", p.ended, p.total, p.failed, Printable(name)))
}

// Stop clears the line. It may be called more than once.
func (p *Progress) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprint(p.out, eraseLine)
}

// WriteJSON prints the JSON form of a result, indented and with <, > and & as they are.
func WriteJSON(w io.Writer, result any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(result)
}

// MarshalJSON is [json.Marshal] with <, > and & as they are. It serves the MarshalJSON
// methods of results.
func MarshalJSON(form any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(form)
	return b.Bytes(), err
}
