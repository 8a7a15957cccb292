package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/meshproof/meshproof/internal/fieldpath"
)

// agree reads data a second time, with the parser of kubectl and in its way to cut a file into
// documents, and refuses data that the two parsers read otherwise: nothing tells then which reading a
// cluster enforces. Such data have a line break of YAML 1.1 in a comment, a tab in a name, or a
// document behind "...". The effort grows in step with the size of the data. A plain file is not read
// a second time.
func agree(file string, data []byte, first []*node) error {
	if isPlain(string(data), first) {
		return nil
	}
	return agreeWithSecond(file, data, first)
}

func agreeWithSecond(file string, data []byte, first []*node) error {
	second, err := readAgain(data)
	if at := (*Error)(nil); errors.As(err, &at) {
		at.File = file
		return at
	}
	for i, n := range first {
		if i == len(second) {
			return &Error{File: file, Line: n.line, Reason: "kubectl reads no document here: " + separately}
		}
		if field, line, was := n.differs(second[i], ""); was != "" {
			return &Error{File: file, Line: line, Field: field, Reason: was}
		}
		n.adopt(second[i])
	}
	if len(second) > len(first) {
		return &Error{File: file, Reason: fmt.Sprintf("kubectl reads %d documents here, and meshproof %d: %s", len(second), len(first), separately)}
	}
	return nil
}

const (
	separator  = "---"
	separately = "separate documents by a line that is ---"
)

// readAgain returns the values of the documents that are not null. Its errors are of type [*Error].
func readAgain(data []byte) (docs []any, err error) {
	add := func(doc any) {
		if doc != nil {
			docs = append(docs, doc)
		}
	}
	if json.Valid(data) {
		reader := json.NewDecoder(bytes.NewReader(data))
		reader.UseNumber()
		var doc any
		if err := reader.Decode(&doc); err != nil {
			return nil, &Error{Reason: "malformed JSON: " + err.Error()}
		}
		add(doc)
		return docs, nil
	}
	for line, part := range parts(data) {
		var doc any
		if err := yaml.Unmarshal(part, &doc); err != nil {
			return nil, &Error{Line: line, Reason: "kubectl cannot read the document that begins here: " + strings.TrimPrefix(err.Error(), "yaml: ")}
		}
		add(doc)
		if hasMore(part) {
			return nil, &Error{Line: line, Reason: "kubectl passes over the end of the document that begins here: " + separately}
		}
	}
	return docs, nil
}

// hasMore reports whether another document follows in a part. kubectl reads the first one alone.
func hasMore(part []byte) bool {
	if !bytes.Contains(part, []byte("...")) && !bytes.Contains(part, []byte(separator)) {
		return false // A second document begins behind one of the two.
	}
	reader := yaml.NewDecoder(bytes.NewReader(part))
	var doc any
	_ = reader.Decode(&doc)
	return !errors.Is(reader.Decode(&doc), io.EOF)
}

// parts cuts data at the lines that begin with ---, as kubectl does, and returns the line on which
// each part begins. What stands behind --- is part of the document for other readers alone; then
// the two readings differ.
func parts(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		line, begin := 1, 0
		for at, next := 0, 1; at < len(data); next++ {
			end := len(data)
			if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
				end = at + i + 1
			}
			if bytes.HasPrefix(data[at:], []byte(separator)) {
				if !yield(line, data[begin:at]) {
					return
				}
				line, begin = next, end
			}
			at = end
		}
		yield(line, data[begin:])
	}
}

// differs says where a value is not what the second reader read, and what that is.
func (n *node) differs(from any, field string) (at string, line int, reason string) {
	differ := func(as string) (string, int, string) {
		return field, n.line, fmt.Sprintf("kubectl reads %s here, and meshproof %s: write it so that every reader of YAML reads the same, such as in quotes", as, n.describe())
	}
	switch from := from.(type) {
	case map[any]any:
		if n.kind != mapping {
			return differ("a mapping")
		}
		keyed := make(map[string]any, len(from))
		for key, value := range from {
			keyed[fmt.Sprint(key)] = value
		}
		return n.differsIn(keyed, len(from), field)
	case map[string]any:
		if n.kind != mapping {
			return differ("a mapping")
		}
		return n.differsIn(from, len(from), field)
	case []any:
		if n.kind != list || len(from) != len(n.items) {
			return differ(fmt.Sprintf("a list of %d", len(from)))
		}
		for i, item := range n.items {
			if at, line, reason := item.differs(from[i], fieldpath.Item(field, i)); reason != "" {
				return at, line, reason
			}
		}
		return "", 0, ""
	}
	if !n.isScalar(from) {
		if n.kind == text && isWhole(n.scalar) && isFloat(from) {
			return field, n.line, fmt.Sprintf("%s is beyond 64 bits, and no two readers of YAML keep it alike: write a smaller number, or a text in quotes", shorten(n.scalar))
		}
		return differ(describe(from))
	}
	return "", 0, ""
}

func (n *node) differsIn(from map[string]any, keys int, field string) (at string, line int, reason string) {
	for _, e := range n.entries {
		value, ok := from[e.key]
		if !ok {
			const quoted = "write it so that every reader of YAML reads the same, such as in quotes, with a space behind the colon that ends it"
			if other, ok := n.readInstead(e.key, from); ok {
				return fieldpath.Child(field, e.key), e.line, fmt.Sprintf("kubectl reads the key %q here, and meshproof %q: %s", shorten(other), shorten(e.key), quoted)
			}
			return fieldpath.Child(field, e.key), e.line, fmt.Sprintf("kubectl does not read the key %q here: %s", shorten(e.key), quoted)
		}
		if at, line, reason := e.value.differs(value, fieldpath.Child(field, e.key)); reason != "" {
			return at, line, reason
		}
	}
	if keys != len(n.entries) {
		return field, n.line, fmt.Sprintf("kubectl reads %d keys here, and meshproof %d: write them so that every reader of YAML reads the same", keys, len(n.entries))
	}
	return "", 0, ""
}

// readInstead returns the only key of the second reader that stands for a key of the node which it lacks: one that goes on
// behind a colon, or else one that the node lacks.
func (n *node) readInstead(lacked string, from map[string]any) (key string, ok bool) {
	var others, longer []string
	for key := range from {
		if slices.ContainsFunc(n.entries, func(e entry) bool { return e.key == key }) {
			continue
		}
		others = append(others, key)
		if strings.HasPrefix(key, lacked+":") {
			longer = append(longer, key)
		}
	}
	if len(longer) > 0 {
		others = longer
	}
	if len(others) != 1 {
		return "", false
	}
	return others[0], true
}

// isWhole reports whether a text is written as a whole number.
func isWhole(s string) bool {
	digits := strings.ReplaceAll(strings.TrimLeft(s, "+-"), "_", "")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isFloat reports whether another reader read a number, of YAML as a fraction or of JSON.
func isFloat(from any) bool {
	_, float := from.(float64)
	_, number := from.(json.Number)
	return float || number
}

// words are booleans of YAML 1.1, in the spellings that kubectl reads as such.
var words = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

func isBooleanWord(scalar string) bool {
	_, ok := words[scalar]
	return ok
}

// adopt makes each word that kubectl reads as a boolean the boolean that it reads. The node is one that does not differ.
func (n *node) adopt(from any) {
	switch from := from.(type) {
	case map[any]any:
		keyed := make(map[string]any, len(from))
		for key, value := range from {
			keyed[fmt.Sprint(key)] = value
		}
		for _, e := range n.entries {
			e.value.adopt(keyed[e.key])
		}
	case []any:
		for i, item := range n.items {
			item.adopt(from[i])
		}
	case bool:
		if n.kind == text {
			n.kind, n.scalar, n.word = boolean, strconv.FormatBool(from), n.scalar
		}
	}
}

// Applied returns the document as kubectl reads it, where it stands in a file that kubectl never gets, such as that of a case:
// each word such as yes without quotes is a boolean.
func (d Document) Applied() Document {
	if d.node != nil {
		d.node = d.node.applied()
	}
	return d
}

// applied returns the node itself where it has no such word.
func (n *node) applied() *node {
	if n.kind == text && n.word != "" {
		return &node{kind: boolean, line: n.line, scalar: strconv.FormatBool(words[n.word]), word: n.word}
	}
	out := n
	change := func() {
		if out == n {
			out = &node{kind: n.kind, line: n.line, items: slices.Clone(n.items), entries: slices.Clone(n.entries)}
		}
	}
	for i, item := range n.items {
		if to := item.applied(); to != item {
			change()
			out.items[i] = to
		}
	}
	for i, e := range n.entries {
		if to := e.value.applied(); to != e.value {
			change()
			out.entries[i].value = to
		}
	}
	return out
}

// isScalar reports whether a scalar is the value of another reader.
func (n *node) isScalar(from any) bool {
	switch from := from.(type) {
	case nil:
		return n.kind == null
	case bool:
		// [node.adopt] makes a word such as yes a boolean.
		return n.kind == boolean && n.scalar == strconv.FormatBool(from) || n.kind == text && isBooleanWord(n.scalar)
	case string:
		return n.kind == text && n.scalar == from
	case json.Number:
		return n.isNumber(from.String())
	default:
		return n.isNumber(fmt.Sprint(from))
	}
}

// isNumber reports whether the node is a number of the same value.
func (n *node) isNumber(written string) bool {
	if n.kind == integer && n.scalar == written {
		return true
	}
	if n.kind != integer && n.kind != float {
		return false
	}
	own, err := n.float()
	other, err2 := strconv.ParseFloat(strings.TrimPrefix(written, "+"), 64)
	return err == nil && err2 == nil && (own == other || own != own && other != other)
}

// describe names the value of another reader in an error.
func describe(from any) string {
	switch from := from.(type) {
	case nil:
		return "nothing"
	case bool:
		return fmt.Sprintf("the boolean %t", from)
	case string:
		return "the text " + strconv.Quote(shorten(from))
	default:
		return fmt.Sprintf("the number %v", from)
	}
}
