package manifest

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseJSON reads data that are one JSON object or list, as API servers write them, at many times the speed of a
// parser of YAML, and gives the nodes that this parser gives. It returns nil for all that the two could read
// otherwise, and for all that is refused: the parser of YAML decides about that. Such data have a key twice, a number
// that is neither a plain fraction nor within 64 bits, half of a character, or a character that is not printed.
func parseJSON(data []byte) *node {
	r := jsonReader{data: data, line: 1}
	if at := bytes.IndexFunc(data, isNoSpace); at < 0 || data[at] != '{' && data[at] != '[' || bytes.ContainsFunc(data, isUnusual) || !json.Valid(data) {
		return nil
	}
	return r.value(maxDepth)
}

func isNoSpace(r rune) bool { return r != ' ' && r != '\n' }

// isUnusual reports whether a reader of YAML may take a character for something else than JSON does: a tab, a line break
// of its own, or what is not printed.
func isUnusual(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// jsonReader goes through a text that is known to be JSON.
type jsonReader struct {
	data []byte
	// offset is the index of the next byte, and line the line that it stands on.
	offset, line int
}

// next skips white space, and returns the byte that follows.
func (r *jsonReader) next() byte {
	for ; !isNoSpace(rune(r.data[r.offset])); r.offset++ {
		if r.data[r.offset] == '\n' {
			r.line++
		}
	}
	return r.data[r.offset]
}

// value reads a value that is nested less deep than the bound. It returns nil where the text is left to the parser of YAML.
func (r *jsonReader) value(bound int) *node {
	first := r.next()
	n := &node{line: r.line}
	switch {
	case bound == 0:
		return nil
	case first == '{':
		n.kind = mapping
		return r.collection(n, '}', func() bool { return r.entry(n, bound-1) })
	case first == '[':
		n.kind = list
		return r.collection(n, ']', func() bool {
			item := r.value(bound - 1)
			n.items = append(n.items, item)
			return item != nil
		})
	case first == '"':
		if n.kind, n.scalar = text, r.text(); strings.ContainsRune(n.scalar, utf8.RuneError) {
			return nil
		}
	case first == 't' || first == 'f':
		n.kind, n.scalar = boolean, r.word()
	case first == 'n':
		r.word()
	default:
		n.scalar = r.word()
		if n.kind = numberKind(n.scalar); n.kind == null {
			return nil
		}
	}
	return n
}

// collection reads what is between two brackets. Its nodes have empty lists, and not none, as those of the parser of YAML.
func (r *jsonReader) collection(n *node, end byte, read func() bool) *node {
	if n.kind == mapping {
		n.entries = []entry{}
	} else {
		n.items = []*node{}
	}
	for r.offset++; r.next() != end; {
		if !read() {
			return nil
		}
		if r.next() == ',' {
			r.offset++
		}
	}
	r.offset++
	return n
}

// mostKeys bounds the keys of a mapping, as each is looked for among those before it.
const mostKeys = 1000

// entry reads a key and its value. A key that is empty, or a merge key of YAML, is left to the other parser.
func (r *jsonReader) entry(n *node, bound int) bool {
	r.next()
	e := entry{line: r.line, key: r.text()}
	if _, twice := n.entry(e.key); twice || e.key == "" || strings.ContainsRune(e.key, utf8.RuneError) || e.key == "<<" || len(n.entries) == mostKeys {
		return false
	}
	r.next() // the colon
	r.offset++
	e.value = r.value(bound)
	n.entries = append(n.entries, e)
	return e.value != nil
}

// text reads a text in quotes.
func (r *jsonReader) text() string {
	begin, escaped := r.offset, false
	for r.offset++; r.data[r.offset] != '"'; r.offset++ {
		if r.data[r.offset] == '\\' {
			escaped = true
			r.offset++
		}
	}
	r.offset++
	if !escaped {
		return string(r.data[begin+1 : r.offset-1])
	}
	var out string
	_ = json.Unmarshal(r.data[begin:r.offset], &out) // The whole text is JSON.
	return out
}

// word reads a number, a boolean or null.
func (r *jsonReader) word() string {
	begin := r.offset
	for r.offset < len(r.data) && !bytes.ContainsRune([]byte(" \n,]}"), rune(r.data[r.offset])) {
		r.offset++
	}
	return string(r.data[begin:r.offset])
}

// numberKind returns null for a number that readers of YAML may take for something else.
func numberKind(number string) kind {
	if _, err := strconv.ParseInt(number, 10, 64); err == nil && number != "-0" {
		return integer
	}
	if _, err := strconv.ParseFloat(number, 64); err == nil && isFraction(number) {
		return float
	}
	return null
}

// isFraction reports whether a number has a point, and no exponent.
func isFraction(number string) bool {
	return bytes.ContainsRune([]byte(number), '.') && !bytes.ContainsAny([]byte(number), "eE")
}
