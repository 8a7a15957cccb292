// Package terminal prints what people read: signs and colours, tables, counted nouns,
// words for a shell, and the JSON form of results.
//
// It guarantees that text from a file cannot steer a terminal, see [Printable], and that
// a failed write is not lost, see [Output]. It knows nothing of what is printed.
package terminal

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
)

// Output remembers the first error of a writer. A command whose result could not be
// written has failed.
type Output struct {
	Writer io.Writer
	Err    error
}

// Write implements [io.Writer].
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.Err == nil {
		o.Err = err
	}
	return n, err
}

// isTerminal reports whether w is a terminal that understands escape sequences. It looks
// through an [Output].
func isTerminal(w io.Writer) bool {
	if o, ok := w.(*Output); ok {
		w = o.Writer
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
func PaintFor(w io.Writer) Paint { return Paint(os.Getenv("NO_COLOR") == "" && isTerminal(w)) }

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
