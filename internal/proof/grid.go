package proof

import (
	"io"

	"github.com/meshproof/meshproof/internal/terminal"
)

// mostColumns is how wide a truth table may be on a terminal.
const mostColumns = 6

// writeGrid prints callers × requests, and reports whether it did. It prints nothing where
// there are too many requests, or a single one.
func (in InboundVerdict) writeGrid(w io.Writer, p terminal.Paint) bool {
	grid := in.Grid()
	if len(grid.Requests) < 2 || len(grid.Requests) > mostColumns {
		return false
	}
	header := []string{"caller"}
	for _, request := range grid.Requests {
		header = append(header, terminal.Printable(request))
	}
	table := terminal.Table{header}
	for i, caller := range grid.Callers {
		row := []string{terminal.Printable(caller)}
		for _, cell := range grid.Cells[i] {
			row = append(row, cellText(p, cell))
		}
		table = append(table, row)
	}
	table.Write(w, "    ")
	return true
}

// cellText is a decision with its origin, and the shadow where it says otherwise.
func cellText(p terminal.Paint, c Cell) string {
	text := c.Decision.Verdict.String()
	if c.Decision.Shadowed && c.Decision.Shadow.Effect != c.Decision.Effect {
		text += ", shadow " + c.Decision.Shadow.String()
	}
	switch {
	case !c.Asked:
		return "– " + text
	case !c.Proven:
		return p.Red("✗ " + text)
	default:
		return "✓ " + text
	}
}
