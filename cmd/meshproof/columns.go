package main

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// columns are rows of cells that stand below each other, also where other lines
// come between them.
type columns [][]string

// lines pads the cells of each row to the widest of their column; none ends in
// white space.
func (c columns) lines() []string {
	var widths []int
	for _, row := range c {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], text.StringWidthWithoutEscSequences(cell))
		}
	}
	out := make([]string, len(c))
	for n, row := range c {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(text.Pad(cell, widths[i]+2, ' '))
		}
		out[n] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// printable quotes a text from a case file that would play tricks on a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return s
}
