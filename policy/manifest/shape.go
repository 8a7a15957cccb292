package manifest

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

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
	case token.AnchorType, token.AliasType, token.MergeKeyType:
		return "anchors, aliases and merge keys are not supported: write the value out"
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
