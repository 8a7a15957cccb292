package manifest

import (
	"bytes"
	"strconv"
	"strings"
)

// YAML prints the document in block style, without comments. Parsing it gives an equal
// document, at other lines.
func (d Document) YAML() []byte {
	var b bytes.Buffer
	if d.node != nil {
		d.node.print(&b, 0)
	}
	if n := b.Len(); n > 0 && b.Bytes()[n-1] != '\n' {
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Flow prints the document on one line, in flow style. Parsing it gives an equal
// document.
func (d Document) Flow() string {
	if d.node == nil {
		return ""
	}
	var b strings.Builder
	d.node.flow(&b)
	return b.String()
}

func (n *node) flow(b *strings.Builder) {
	switch {
	case n.kind == list && len(n.items) > 0:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteString(", ")
			}
			item.flow(b)
		}
		b.WriteByte(']')
	case n.kind == mapping && len(n.entries) > 0:
		b.WriteByte('{')
		for i, e := range n.entries {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(Quote(e.key))
			b.WriteString(": ")
			e.value.flow(b)
		}
		b.WriteByte('}')
	default:
		b.WriteString(n.flat())
	}
}

// print writes the node behind what is on the line already.
func (n *node) print(b *bytes.Buffer, indent int) {
	switch {
	case n.kind == list && len(n.items) > 0:
		for i, item := range n.items {
			newLine(b, i, indent)
			b.WriteString("- ")
			item.print(b, indent+2)
		}
	case n.kind == mapping && len(n.entries) > 0:
		for i, e := range n.entries {
			newLine(b, i, indent)
			b.WriteString(Quote(e.key))
			b.WriteByte(':')
			e.value.printBehind(b, indent)
		}
	default:
		b.WriteString(n.flat())
	}
}

// printBehind writes the node behind "key:".
func (n *node) printBehind(b *bytes.Buffer, indent int) {
	if len(n.items)+len(n.entries) == 0 {
		b.WriteByte(' ')
		b.WriteString(n.flat())
		return
	}
	b.WriteByte('\n')
	b.WriteString(strings.Repeat(" ", indent+2))
	n.print(b, indent+2)
}

func newLine(b *bytes.Buffer, i, indent int) {
	if i > 0 {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat(" ", indent))
	}
}

func (n *node) flat() string {
	switch n.kind {
	case null:
		return "null"
	case list:
		return "[]"
	case mapping:
		return "{}"
	case text:
		return Quote(n.scalar)
	default:
		return n.scalar
	}
}

// Quote puts a text in quotes, unless every reader of YAML, 1.1 or 1.2, reads it as this
// text without quotes.
func Quote(s string) string {
	plain := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || s[0] == '/')
	for i := 0; plain && i < len(s); i++ {
		c := s[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_./", c) >= 0 ||
			c == ':' && i+1 < len(s) && s[i+1] == '/'
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
		plain = false
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}
