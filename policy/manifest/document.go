package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldpath"
)

// Document is one YAML document of a file, or a part of a document. It knows its place in
// the file. The zero value is an empty document without a file.
type Document struct {
	file  string
	field string
	line  int
	node  *node
	// comments are those of the whole file, as a list of texts.
	comments *node
	// list names the list that the document stands in, where kubectl may refuse the list.
	list string
}

// Head has the fields that say which kind of resource a document is.
type Head struct {
	// Type is the kind of a universal resource. It is empty for a Kubernetes object: the field
	// type of a Secret is no kind.
	Type string
	// APIVersion and Kind belong to a Kubernetes object.
	APIVersion string
	Kind       string
}

// Type returns the head of the document. A field that is missing or no text is empty: the
// code that decodes the document reports it with its place.
func (d Document) Type() Head {
	head := Head{Type: d.text("type"), APIVersion: d.text("apiVersion"), Kind: d.text("kind")}
	if head.APIVersion != "" && head.Kind != "" {
		head.Type = ""
	}
	return head
}

func (d Document) text(key string) string {
	if d.node == nil {
		return ""
	}
	if e, ok := d.node.entry(key); ok && e.value.kind == text {
		return e.value.scalar
	}
	return ""
}

// Line returns the line on which the document begins, from 1. The zero value has 0.
func (d Document) Line() int { return d.line }

// Lookup returns the part of the document at a path such as policies[0], and whether there is
// such a part. The part keeps its line and its path in the whole document. The path "#" leads to the comments of
// the file, as a list of texts without their first sign: a tool may read them. A case file has none.
func (d Document) Lookup(field string) (Document, bool) {
	if field == commentsPath {
		return Document{file: d.file, field: commentsPath, node: d.comments}, d.comments != nil && len(d.comments.items) > 0
	}
	at, rest := d.nearest(field)
	return at, rest == ""
}

const commentsPath = "#"

// nearest follows the path as far as the document has it, and returns the rest of the
// path.
func (d Document) nearest(field string) (at Document, rest string) {
	for field != "" {
		first, rest, ok := cutStep(field)
		if !ok {
			break
		}
		next, ok := d.step(first)
		if !ok {
			break
		}
		d, field = next, rest
	}
	return d, field
}

func (d Document) step(s step) (Document, bool) {
	switch {
	case d.node == nil:
	case s.named:
		if e, ok := d.node.entry(s.key); ok {
			return Document{file: d.file, field: fieldpath.Child(d.field, s.key), line: e.line, node: e.value, comments: d.comments}, true
		}
	case s.index < len(d.node.items):
		return d.item(s.index), true
	}
	return Document{}, false
}

func (d Document) item(i int) Document {
	item := d.node.items[i]
	return Document{file: d.file, field: fieldpath.Item(d.field, i), line: item.line, node: item, comments: d.comments}
}

// Keys returns the keys of a mapping in their order. Another document has no keys.
func (d Document) Keys() []string {
	if d.node == nil {
		return nil
	}
	keys := make([]string, len(d.node.entries))
	for i, e := range d.node.entries {
		keys[i] = e.key
	}
	return keys
}

// WithoutKey returns the mapping without the key. The other keys keep their place. It
// returns the zero value where no key is left.
func (d Document) WithoutKey(key string) Document {
	rest := d.withoutKeys(func(k string) bool { return k == key })
	if rest.node == nil || len(rest.node.entries) == 0 {
		return Document{}
	}
	return rest
}

// WithoutField returns the document without the field at a path. The other fields keep their places. A path that leads nowhere, or to an
// item of a list, takes nothing away.
func (d Document) WithoutField(field string) Document {
	first, rest, ok := cutStep(field)
	if !ok || d.node == nil {
		return d
	}
	if first.named && rest == "" {
		return d.withoutKeys(func(key string) bool { return key == first.key })
	}
	n := *d.node
	n.entries, n.items = slices.Clone(n.entries), slices.Clone(n.items)
	for i, e := range n.entries {
		if first.named && e.key == first.key {
			n.entries[i].value = Document{node: e.value}.WithoutField(rest).node
		}
	}
	if !first.named && rest != "" && first.index < len(n.items) {
		n.items[first.index] = Document{node: n.items[first.index]}.WithoutField(rest).node
	}
	d.node = &n
	return d
}

func (d Document) withoutKeys(drop func(key string) bool) Document {
	if d.node == nil || d.node.kind != mapping {
		return d
	}
	rest := *d.node
	rest.entries = slices.DeleteFunc(slices.Clone(rest.entries), func(e entry) bool { return drop(e.key) })
	d.node = &rest
	return d
}

// Errorf returns an [*Error] about a field of the document. The path of the field begins
// at the document. The line is the line of the field, or of its nearest parent that exists.
func (d Document) Errorf(field, format string, a ...any) error {
	at, _ := d.nearest(field)
	return &Error{File: d.file, Line: at.line, Field: join(d.field, field), Reason: fmt.Sprintf(format, a...)}
}

// Place returns "file:line: field" of a field, with the line that
// [Document.Errorf] would give it.
func (d Document) Place(field string) string {
	at, _ := d.nearest(field)
	return place(d.file, at.line, join(d.field, field))
}

// join puts a relative path behind the path of the node it is relative to.
func join(base, field string) string {
	if base == "" || field == "" || field[0] == '[' {
		return base + field
	}
	return base + "." + field
}

// step is one part of a path: a key where named is true, else an index.
type step struct {
	key   string
	named bool
	index int
}

// cutStep returns the first step of a path and the rest. It returns ok false where the
// path is malformed.
func cutStep(field string) (first step, rest string, ok bool) {
	if quoted, found := strings.CutPrefix(field, "["); found {
		if prefix, err := strconv.QuotedPrefix(quoted); err == nil {
			key, err := strconv.Unquote(prefix)
			rest, closed := strings.CutPrefix(quoted[len(prefix):], "]")
			return step{key: key, named: true}, strings.TrimPrefix(rest, "."), err == nil && closed
		}
		digits, rest, closed := strings.Cut(quoted, "]")
		i, err := strconv.Atoi(digits)
		return step{index: i}, strings.TrimPrefix(rest, "."), closed && err == nil && i >= 0
	}
	end := strings.IndexAny(field, ".[")
	if end < 0 {
		return step{key: field, named: true}, "", fieldpath.IsPlain(field)
	}
	return step{key: field[:end], named: true}, strings.TrimPrefix(field[end:], "."), fieldpath.IsPlain(field[:end])
}

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

// WithMeant returns an error that suggests a name for an unknown field, where the error is about such a field and another name is closer by its letters.
func WithMeant(err error, name string, isField func(field string) bool) error {
	e := new(Error)
	if !errors.As(err, &e) || !isField(e.Field) {
		return err
	}
	hinted := *e
	hinted.Reason = "unknown field: did you mean " + name + "?"
	return &hinted
}

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
