package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/meshproof/meshproof/internal/fieldpath"
)

// Parse splits data into its documents, and drops empty ones. A list of objects, as kubectl
// and kumactl print it, counts as its objects. Errors name the file. Every error is an
// [*Error].
func Parse(file string, data []byte) ([]Document, error) {
	if !utf8.Valid(data) {
		return nil, &Error{File: file, Reason: "malformed YAML: the text is not UTF-8"}
	}
	if root := parseJSON(data); root != nil {
		return appendObjects(nil, Document{file: file, line: root.line, node: root, comments: &node{kind: list}})
	}
	docs, err := parseYAML(file, data)
	if looksLikeJSON(data) {
		for i := range docs {
			docs[i].list = cmp.Or(docs[i].list, "a file that begins with a brace and is no JSON")
		}
	}
	return docs, err
}

func parseYAML(file string, data []byte) ([]Document, error) {
	var docs []Document
	var roots []*node
	firstAlias := 0
	comments := &node{kind: list}
	for part := range slices.Values(split(lexer.Tokenize(string(data)))) {
		if err := check(file, part); err != nil {
			return nil, unwritten(data, err)
		}
		comments.items = append(comments.items, commentsOf(part)...)
		root, alias, err := parse(file, data, part)
		if err != nil {
			return nil, unwritten(data, err)
		}
		firstAlias = cmp.Or(firstAlias, alias)
		if root != nil && root.kind != null {
			roots = append(roots, root)
			if docs, err = appendObjects(docs, Document{file: file, line: root.line, node: root, comments: comments}); err != nil {
				return nil, err
			}
		}
	}
	if len(docs) > 0 {
		if _, isCase := docs[0].Lookup("case"); isCase {
			if firstAlias > 0 {
				return nil, &Error{File: file, Line: firstAlias, Reason: "a case file has no aliases and merge keys: write the value out"}
			}
			comments.items = nil
			return docs, nil // No other program reads a case file.
		}
	}
	return docs, agree(file, data, roots)
}

// looksLikeJSON reports whether data begin as JSON does. Releases of kubectl take the file for JSON then, and read none of it
// that is YAML.
func looksLikeJSON(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

// split cuts a token stream into documents. The parser could do it, but its effort grows
// with the square of their number.
func split(tokens token.Tokens) []token.Tokens {
	var parts []token.Tokens
	begin := 0
	for i, t := range tokens {
		end := i
		if t.Type == token.DocumentEndType {
			end = i + 1
		} else if t.Type != token.DocumentHeaderType {
			continue
		}
		if end > begin {
			parts = append(parts, tokens[begin:end])
			begin = end
		}
	}
	return append(parts, tokens[begin:])
}

func commentsOf(tokens token.Tokens) (out []*node) {
	for _, t := range tokens {
		if t.Type == token.CommentType {
			out = append(out, &node{kind: text, line: t.Position.Line, scalar: t.Value})
		}
	}
	return out
}

// parse returns the value of one document, and the line of its first alias; 0 for none.
func parse(file string, data []byte, tokens token.Tokens) (root *node, alias int, err error) {
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, 0, malformed(file, data, err)
	}
	c := &converter{file: file}
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, 0, &Error{File: file, Line: doc.Body.GetToken().Position.Line, Reason: "malformed YAML: a second value in one document: separate documents with ---"}
		}
		if root, err = c.node(doc.Body, ""); err != nil {
			return nil, 0, err
		}
	}
	return root, c.alias, nil
}

// The bounds of a document. The parser's effort grows with the square of the depth and of
// the number of keys in one mapping, and its stack grows with both.
const (
	maxDepth = 100
	maxKeys  = 10_000
)

// check refuses what this package does not accept, before the parser reads it.
func check(file string, tokens token.Tokens) error {
	var s shape
	for _, t := range tokens {
		reason := unsupported(t)
		if reason == "" {
			reason = s.add(t)
		}
		if reason != "" {
			return &Error{File: file, Line: t.Position.Line, Reason: reason}
		}
	}
	return nil
}

func unsupported(t *token.Token) string {
	switch t.Type {
	case token.AnchorType:
		return unsupportedAnchor(t)
	case token.TagType:
		return "tags are not supported: leave " + t.Value + " out"
	case token.DirectiveType:
		return "directives are not supported: leave the line out"
	}
	return ""
}

// shape follows the nesting of a token stream.
type shape struct {
	// open has the block collections around the current token.
	open []level
	// flow is the number of brackets and braces around it.
	flow int
	line int
}

// level is a block collection: the column of its entries, and their number so far.
type level struct{ column, entries int }

// add adds a token, and returns what is wrong with the shape then.
func (s *shape) add(t *token.Token) string {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		s.flow++
	case token.SequenceEndType, token.MappingEndType:
		s.flow = max(0, s.flow-1)
	}
	// The first token of a line or of a list item may open a level.
	isItem := t.Type == token.SequenceEntryType
	if s.flow == 0 && (t.Position.Line != s.line || isItem || t.PreviousType() == token.SequenceEntryType) {
		column := t.Position.Column
		for len(s.open) > 0 && s.open[len(s.open)-1].column > column {
			s.open = s.open[:len(s.open)-1]
		}
		if n := len(s.open); n == 0 || s.open[n-1].column < column {
			s.open = append(s.open, level{column: column})
		}
		if top := &s.open[len(s.open)-1]; !isItem {
			top.entries++
			if top.entries > maxKeys {
				return fmt.Sprintf("more than %d keys in one mapping", maxKeys)
			}
		}
	}
	s.line = t.Position.Line
	if len(s.open)+s.flow > maxDepth {
		return fmt.Sprintf("nested deeper than %d levels", maxDepth)
	}
	return ""
}

// converter turns the parser's tree into nodes. A node is smaller, and it has only what
// this package accepts.
type converter struct {
	file string
	// anchors are the values behind the anchors so far, alias the line of the first alias, and copied the number of values that aliases stand for.
	anchors       map[string]*node
	alias, copied int
	// depth is the number of collections around the value.
	depth int
}

func (c *converter) node(from ast.Node, field string) (*node, error) {
	n := &node{line: line(from)}
	c.depth++
	defer func() { c.depth-- }()
	switch from := from.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		n.kind, n.scalar = boolean, fmt.Sprint(from.Value)
	case *ast.IntegerNode:
		n.kind, n.scalar = integer, fmt.Sprint(from.Value)
	case *ast.FloatNode:
		n.kind, n.scalar = float, from.Token.Value
		if math.IsInf(from.Value, 0) {
			return nil, &Error{File: c.file, Line: n.line, Field: field, Reason: "the number is too large"}
		}
	case *ast.InfinityNode:
		n.kind, n.scalar = float, from.Token.Value
	case *ast.NanNode:
		n.kind, n.scalar = float, from.Token.Value
	case *ast.StringNode:
		n.kind, n.scalar = text, from.Value
		if from.Token.Type == token.StringType && isBooleanWord(from.Value) {
			n.word = from.Value
		}
	case *ast.LiteralNode:
		n.kind, n.scalar = text, from.Value.Value
	case *ast.AnchorNode:
		return c.anchored(from, field)
	case *ast.AliasNode:
		return c.aliased(from, field)
	case *ast.SequenceNode:
		n.kind = list
		return n, c.items(n, from.Values, field)
	case *ast.MappingNode:
		n.kind = mapping
		return n, c.entries(n, from.Values, field)
	case *ast.MappingValueNode:
		n.kind = mapping
		return n, c.entries(n, []*ast.MappingValueNode{from}, field)
	default:
		return nil, &Error{File: c.file, Line: n.line, Field: field, Reason: "malformed YAML: a value was expected"}
	}
	return n, nil
}

func (c *converter) items(n *node, values []ast.Node, field string) error {
	n.items = make([]*node, len(values))
	for i, value := range values {
		item, err := c.node(value, fieldpath.Item(field, i))
		if err != nil {
			return err
		}
		n.items[i] = item
	}
	return nil
}

func (c *converter) entries(n *node, values []*ast.MappingValueNode, field string) error {
	n.entries = make([]entry, 0, len(values))
	seen := make(map[string]int, len(values))
	var merged *ast.MappingValueNode
	for _, value := range values {
		e := entry{line: line(value.Key)}
		switch key := value.Key.(type) {
		case *ast.StringNode:
			e.key = key.Value
		case *ast.MergeKeyNode:
			e.key = "<<"
		case *ast.AliasNode:
			var err error
			if e.key, err = c.aliasedKey(key, field); err != nil {
				return err
			}
		case *ast.LiteralNode, *ast.MappingKeyNode, *ast.NullNode, *ast.AnchorNode:
			return &Error{File: c.file, Line: e.line, Field: field, Reason: "a key must be text on one line"}
		default:
			e.key = key.GetToken().Value
		}
		if first, ok := seen[e.key]; ok {
			return &Error{File: c.file, Line: e.line, Field: fieldpath.Child(field, e.key), Reason: fmt.Sprintf("the key appears twice, first on line %d", first)}
		}
		seen[e.key] = e.line
		if _, ok := value.Key.(*ast.MergeKeyNode); ok {
			merged = value
			continue
		}
		var err error
		if e.value, err = c.node(value.Value, fieldpath.Child(field, e.key)); err != nil {
			return err
		}
		n.entries = append(n.entries, e)
	}
	if merged != nil {
		return c.merge(n, merged, field)
	}
	return nil
}

// line returns the line on which a node begins. A mapping begins with its first key, and
// the parser gives it the line of the colon.
func line(n ast.Node) int {
	switch from := n.(type) {
	case *ast.MappingNode:
		if !from.IsFlowStyle && len(from.Values) > 0 {
			return line(from.Values[0])
		}
	case *ast.MappingValueNode:
		return line(from.Key)
	case nil:
		return 0
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line
	}
	return 0
}

// kind is the type of a node as the text shows it.
type kind uint8

const (
	null kind = iota
	boolean
	integer
	float
	text
	list
	mapping
)

var kindNames = [...]string{"nothing", "a boolean", "a number", "a number", "text", "a list", "a mapping"}

// node is one value of a document. Only the fields of its kind are set.
type node struct {
	kind   kind
	line   int
	scalar string
	// word is a word such as yes without quotes: a text, and a boolean where kubectl reads the document.
	word    string
	items   []*node
	entries []entry
}

// entry is one key of a mapping, with its value.
type entry struct {
	key   string
	line  int
	value *node
}

func (n *node) entry(key string) (entry, bool) {
	for _, e := range n.entries {
		if e.key == key {
			return e, true
		}
	}
	return entry{}, false
}

// describe names the node in an error: "the number 8080", "a list".
func (n *node) describe() string {
	switch n.kind {
	case boolean:
		if n.word != "" {
			return "the word " + n.word + ", which kubectl reads as the boolean " + n.scalar
		}
		return "the boolean " + n.scalar
	case integer, float:
		return "the number " + n.scalar
	case text:
		return "the text " + strconv.Quote(shorten(n.scalar))
	default:
		return kindNames[n.kind]
	}
}

func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
