package manifest

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/goccy/go-yaml/lexer"
)

// ReadJSON reports whether data are read by the parser of JSON, and how what it reads differs from what the parser of
// YAML reads, "" for not at all.
func ReadJSON(data []byte) (read bool, diff string) {
	root := parseJSON(data)
	if root == nil {
		return false, ""
	}
	docs, err := parseYAML("p.json", data)
	if err != nil {
		return true, err.Error()
	}
	own, err := appendObjects(nil, Document{file: "p.json", line: root.line, node: root, comments: &node{kind: list}})
	if err != nil {
		return true, err.Error()
	}
	if !reflect.DeepEqual(docs, own) {
		return true, fmt.Sprintf("%#v\n%#v", docs, own)
	}
	return true, ""
}

// ReadTwice reports whether data count as plain, and what the second parser says of the reading of the
// first one. It returns false for data that the first parser refuses.
func ReadTwice(data []byte) (plain bool, second error) {
	var roots []*node
	for part := range slices.Values(split(lexer.Tokenize(string(data)))) {
		if err := check("p.yaml", part); err != nil {
			return false, nil
		}
		root, _, err := parse("p.yaml", data, part)
		if err != nil {
			return false, nil
		}
		if root != nil && root.kind != null {
			roots = append(roots, root)
		}
	}
	return isPlain(string(data), roots), agreeWithSecond("p.yaml", data, roots)
}
