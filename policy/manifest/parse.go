package manifest

import (
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Parse splits data into its documents, and drops empty ones. Errors name the file. Every
// error is an [*Error].
func Parse(file string, data []byte) ([]Document, error) {
	if !utf8.Valid(data) {
		return nil, &Error{File: file, Reason: "malformed YAML: the text is not UTF-8"}
	}
	var docs []Document
	for part := range slices.Values(split(lexer.Tokenize(string(data)))) {
		if err := check(file, part); err != nil {
			return nil, err
		}
		root, err := parse(file, part)
		if err != nil {
			return nil, err
		}
		if root != nil && root.kind != null {
			docs = append(docs, Document{file: file, line: root.line, node: root})
		}
	}
	return docs, nil
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

func parse(file string, tokens token.Tokens) (*node, error) {
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, malformed(file, err)
	}
	var root *node
	for _, doc := range tree.Docs {
		if doc.Body == nil {
			continue
		}
		if root != nil {
			return nil, &Error{File: file, Line: doc.Body.GetToken().Position.Line, Reason: "malformed YAML: a second value in one document: separate documents with ---"}
		}
		if root, err = (&converter{file: file}).node(doc.Body, ""); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func malformed(file string, err error) error {
	e := &Error{File: file, Reason: "malformed YAML: " + err.Error()}
	if at := yaml.Error(nil); errors.As(err, &at) {
		e.Reason = "malformed YAML: " + at.GetMessage()
		if t := at.GetToken(); t != nil && t.Position != nil {
			e.Line = t.Position.Line
		}
	}
	return e
}
