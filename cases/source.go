package cases

import (
	"bytes"
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// sources cuts a file into the texts of its documents. A marker ("---") belongs to no
// document. A comment belongs to the document that follows.
func sources(data []byte, docs []manifest.Document) []string {
	out := make([]string, len(docs))
	var text strings.Builder
	next, line := 0, 0
	end := func() {
		// A part of comments alone is no document: it goes with the next.
		if next < len(docs) && docs[next].Line() <= line {
			out[next] = strings.TrimSpace(text.String()) + "\n"
			text.Reset()
			next++
		}
	}
	for raw := range bytes.Lines(data) {
		if rest, ok := bytes.CutPrefix(raw, []byte("---")); ok && (len(rest) == 0 || bytes.ContainsAny(rest[:1], " \t\r\n")) {
			end()
			line++
			text.Write(bytes.TrimLeft(rest, " \t\r\n"))
			continue
		}
		line++
		text.Write(raw)
	}
	end()
	return out
}
