package conversion

import (
	"strings"

	"github.com/meshproof/meshproof/policy/manifest"
)

// block is a YAML mapping or list in block style, line by line.
type block []string

// blockOf returns a part of a document; no value in it takes several lines.
func blockOf(d manifest.Document) block {
	return strings.Split(strings.TrimSuffix(string(d.YAML()), "\n"), "\n")
}

// key adds an entry to a mapping, whose value is a mapping or a list.
func (b *block) key(key string, value block) {
	switch {
	case len(value) == 0:
		b.scalar(key, "{}")
	case len(value) == 1 && (value[0] == "{}" || value[0] == "null"):
		b.scalar(key, value[0])
	default:
		*b = append(*b, key+":")
		for _, line := range value {
			*b = append(*b, "  "+line)
		}
	}
}

// scalar adds an entry to a mapping, whose value takes one line.
func (b *block) scalar(key, value string) { *b = append(*b, key+": "+value) }

// item adds an item to a list.
func (b *block) item(value block) {
	lead := "- "
	for _, line := range value {
		*b = append(*b, lead+line)
		lead = "  "
	}
}
