package markdown

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/report"
)

// document is a text in GitHub's Markdown. Its methods take Markdown: [escape], [code] and
// [block] make Markdown of any text.
type document struct{ strings.Builder }

// Sheet writes a heading, paragraphs, and a table of texts, with no more than the bound.
// The paragraphs are plain text too.
func Sheet(heading string, paragraphs, header []string, rows [][]string) string {
	var d document
	d.heading(escape(heading))
	for _, text := range paragraphs[:min(len(paragraphs), mostFailures)] {
		d.paragraph(escape(text))
	}
	if more := len(paragraphs) - mostFailures; more > 0 {
		d.paragraph(fmt.Sprintf("and %d more", more))
	}
	t := table{header: header}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, text := range row {
			cells[i] = escape(text)
		}
		t.rows = append(t.rows, cells)
	}
	d.table("", t)
	return d.String()
}

func (d *document) heading(text string) { fmt.Fprintf(d, "## %s\n\n", text) }

func (d *document) paragraph(text string) { fmt.Fprintf(d, "%s\n\n", text) }

// section is a part of a document with a bound. It counts what it leaves out. Its heading is
// written before its first text, so that an empty section has none.
type section struct {
	d       *document
	heading string
	size    int
	left    int
}

// add writes a text, or reports that it is too long.
func (s *section) add(text string) bool {
	if s.size+len(text) > maxSection {
		return false
	}
	s.open()
	s.size += len(text)
	s.d.WriteString(text)
	return true
}

func (s *section) open() {
	if s.heading != "" {
		fmt.Fprintf(s.d, "### %s\n\n", s.heading)
		s.heading = ""
	}
}

// end writes how much was left out.
func (s *section) end() {
	if s.left > 0 {
		s.open()
		fmt.Fprintf(s.d, "\nand %d more\n\n", s.left)
	}
}

// table is rows of cells. A table without rows is not written.
type table struct {
	header []string
	rows   [][]string
}

func (d *document) table(heading string, t table) {
	if len(t.rows) == 0 {
		return
	}
	s := section{d: d, heading: heading}
	if !s.add(line(t.header) + strings.Repeat("| --- ", len(t.header)) + "|\n") {
		s.left = len(t.rows)
		t.rows = nil
	}
	for _, row := range t.rows {
		if s.left > 0 || !s.add(line(row)) {
			s.left++
		}
	}
	s.end()
	d.WriteString("\n")
}

func line(cells []string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// columns is the header of a table: the titles, then the labels of the runs.
func columns(labels []string, titles ...string) []string {
	for _, label := range labels {
		titles = append(titles, escape(label))
	}
	return titles
}

// escape makes one line of Markdown that shows a text. It cuts a long text.
func escape(text string) string { return markup.Replace(clip(report.Visible(text))) }

// code makes Markdown that shows a text in a fixed width.
func code(text string) string {
	if text == "" {
		return ""
	}
	text = clip(report.Visible(text))
	if strings.ContainsAny(text, "`|\\") || strings.TrimSpace(text) != text {
		return "<code>" + markup.Replace(text) + "</code>"
	}
	return "`" + text + "`"
}

// block makes Markdown that shows a text as a block of code.
func block(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, report.Visible(strings.TrimSuffix(l, "\n")))
	}
	return fence + "\n" + clipTo(strings.Join(lines, "\n"), 10*maxText) + "\n" + fence
}

func clip(text string) string { return clipTo(text, maxText) }

func clipTo(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
