package manifest

import (
	"slices"

	"github.com/goccy/go-yaml/lexer"
)

// ReadTwice reports whether data count as plain, and what the second parser says of the reading of the
// first one. It returns false for data that the first parser refuses.
func ReadTwice(data []byte) (plain bool, second error) {
	var roots []*node
	for part := range slices.Values(split(lexer.Tokenize(string(data)))) {
		if err := check("p.yaml", part); err != nil {
			return false, nil
		}
		root, err := parse("p.yaml", data, part)
		if err != nil {
			return false, nil
		}
		if root != nil && root.kind != null {
			roots = append(roots, root)
		}
	}
	return isPlain(string(data), roots), agreeWithSecond("p.yaml", data, roots)
}
