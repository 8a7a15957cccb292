package manifest

import (
	"strconv"
	"strings"
)

// Error says what is wrong with a document, and where.
type Error struct {
	// File is the name that was given to [Parse].
	File string
	// Line counts from 1. It is 0 where the error is about the whole file.
	Line int
	// Field is the path from the root of the document, as in
	// spec.rules[0].default.allow[1].spiffeId.value; empty at the root.
	Field string
	// Reason says what is wrong, and what to write instead where that is known.
	Reason string
}

// Error returns "file:line: field: reason" on one line.
func (e *Error) Error() string { return place(e.File, e.Line, e.Field) + ": " + oneLine(e.Reason) }

func place(file string, line int, field string) string {
	var b strings.Builder
	b.WriteString(file)
	if line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(line))
	}
	if field != "" {
		b.WriteString(": ")
		b.WriteString(field)
	}
	return b.String()
}

// oneLine joins the lines of a reason, for the parser's reasons may have several.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.ReplaceAll(strings.Join(lines, " "), "\t", `\t`)
}
