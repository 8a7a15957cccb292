package terminal

import (
	"fmt"
	"io"
	"strings"

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
