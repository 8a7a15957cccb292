package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Text returns the comparison for a terminal: a line for each run, a line with the number of
// cases that differ, and then the differences by case and request. The value of the first
// run stands before the arrow, the value of the second run behind it.
func (c Comparison) Text() string {
	var b strings.Builder
	for _, s := range []Side{c.A, c.B} {
		fmt.Fprintf(&b, "%s: %s in %s\n", Visible(s.Label), s.Tally, Seconds(s.Took))
	}
	fmt.Fprintf(&b, "%s\n", c.Sentence())
	var last Change
	for i, change := range c.Changed {
		if i == 0 || change.Case != last.Case {
			fmt.Fprintf(&b, "\n%s: %s\n", Visible(change.Place), Visible(change.Case))
			last.Request = ""
		}
		indent := "  "
		if change.Request != "" {
			if change.Request != last.Request {
				fmt.Fprintf(&b, "  %s\n", Visible(change.Request))
			}
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%-8s  %s → %s\n", indent, Visible(change.What), Visible(change.A), Visible(change.B))
		last = change
	}
	writeOnly(&b, c.A.Label, c.OnlyA)
	writeOnly(&b, c.B.Label, c.OnlyB)
	return b.String()
}

func writeOnly(b *strings.Builder, label string, cases []string) {
	if len(cases) == 0 {
		return
	}
	fmt.Fprintf(b, "\nonly in %s:\n", Visible(label))
	for _, name := range cases {
		fmt.Fprintf(b, "  %s\n", Visible(name))
	}
}

// Sentence says how many cases differ.
func (c Comparison) Sentence() string {
	if c.Empty() {
		return fmt.Sprintf("no difference in %s", Plural(c.Common, "case"))
	}
	changed := map[string]bool{}
	for _, change := range c.Changed {
		changed[change.Case] = true
	}
	text := fmt.Sprintf("%d of %s in common differ", len(changed), Plural(c.Common, "case"))
	if n := len(c.OnlyA) + len(c.OnlyB); n > 0 {
		text += fmt.Sprintf("; in one run only: %d", n)
	}
	return text
}

// Visible makes one line of a text, with escapes for the characters that could change a
// terminal or a page: control characters, and marks that turn the direction of writing.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
