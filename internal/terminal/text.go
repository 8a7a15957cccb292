package terminal

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Table has rows of cells. The cells of one column are printed at the same width.
type Table [][]string

// Lines returns a line for each row, without spaces at its end.
func (t Table) Lines() []string {
	var widths []int
	for _, row := range t {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], width(cell))
		}
	}
	out := make([]string, len(t))
	for n, row := range t {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(cell)
			b.WriteString(strings.Repeat(" ", widths[i]+2-width(cell)))
		}
		out[n] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// Write prints the lines of the table behind an indent.
func (t Table) Write(w io.Writer, indent string) {
	for _, line := range t.Lines() {
		fmt.Fprintf(w, "%s%s\n", indent, line)
	}
}

// width counts the columns that a text takes on a terminal. The colours of [Paint] take
// none.
func width(s string) int {
	n := 0
	for coloured := false; s != ""; coloured = true {
		plain, rest, _ := strings.Cut(s, escape)
		if coloured {
			_, plain, _ = strings.Cut(plain, "m")
		}
		for _, r := range plain {
			n += runewidth.RuneWidth(r)
		}
		s = rest
	}
	return n
}

// Printable quotes a text that would steer a terminal.
func Printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}

// Escaped writes what of a text would steer a terminal as escapes, and leaves the rest.
func Escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) || r == '\t' {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// Abridge cuts a text to what a line of a terminal takes.
func Abridge(s string) string {
	const most = 160
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Count is a number with a noun whose plural ends in s.
func Count(n int, noun string) string { return Plural(n, noun, noun+"s") }

// Plural is a number with a noun in its singular or its plural.
func Plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + more
}

// Number writes a number as a reader reads it, with a comma before each three digits.
func Number(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Quote makes one word of s for a POSIX shell.
func Quote(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-") == "" && s != ""
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
