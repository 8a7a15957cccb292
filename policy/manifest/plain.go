package manifest

import (
	"strings"
)

// isPlain reports whether a file is written so plainly that every parser reads the given documents
// in it. It holds each key and each value against the text, line by line, and trusts no
// parser. It knows block mappings and block lists with one space behind each dash and colon; keys,
// words, and integers of few characters; texts in quotes on one line; empty collections; and comments
// on lines of their own. A file with anything else is not plain.
func isPlain(file string, documents []*node) bool {
	l := plainLines{file: file}
	l.next()
	for _, root := range documents {
		l.skipSeparators()
		if l.column != 0 || !l.isBlock(root, 0) || !l.end && !l.isSeparator() {
			return false
		}
	}
	l.skipSeparators()
	return l.end
}

// plainLines goes through the lines of a file that say something.
type plainLines struct {
	// file is what follows the line.
	file string
	// rest is what is left of the line, and column where that begins.
	rest   string
	column int
	// end is true behind the last line.
	end bool
}

// next goes to the next line that is neither empty nor a comment.
func (l *plainLines) next() {
	for l.file != "" {
		var line string
		line, l.file, _ = strings.Cut(l.file, "\n")
		l.rest = strings.TrimLeft(line, " ")
		l.column = len(line) - len(l.rest)
		if line != "" && !(strings.HasPrefix(l.rest, "#") && isPrintable(l.rest)) {
			return
		}
	}
	l.rest, l.column, l.end = "", 0, true
}

func (l *plainLines) isSeparator() bool { return l.column == 0 && l.rest == separator }

func (l *plainLines) skipSeparators() {
	for l.isSeparator() {
		l.next()
	}
}

// cut takes a beginning off the line.
func (l *plainLines) cut(begin string) bool {
	rest, ok := strings.CutPrefix(l.rest, begin)
	if ok {
		l.rest, l.column = rest, l.column+len(begin)
	}
	return ok
}

// isBlock reports whether a node that is not empty follows as a block mapping or a block
// list, in the column least or behind it. All its entries begin in one column.
func (l *plainLines) isBlock(n *node, least int) bool {
	column := l.column
	if column < least || len(n.entries)+len(n.items) == 0 {
		return false
	}
	for _, e := range n.entries {
		if l.column != column || !isPlainKey(e.key) || !l.cut(e.key) || !l.cut(":") || !l.isValue(e.value, column) {
			return false
		}
	}
	for _, item := range n.items {
		if l.column != column || !l.cut("- ") || !l.isBlock(item, column) && !l.isScalar(item) {
			return false
		}
	}
	return true
}

// isValue reports whether the value of a key follows, on the line of the key or behind it.
func (l *plainLines) isValue(n *node, column int) bool {
	if l.cut(" ") {
		return l.isScalar(n)
	}
	if l.rest != "" {
		return false
	}
	l.next()
	switch n.kind {
	case null:
		return true // The next line has to be an entry of a block that is open.
	case mapping:
		return l.isBlock(n, column+1)
	default:
		return l.isBlock(n, column)
	}
}

// isScalar reports whether the rest of the line is a scalar or an empty collection.
func (l *plainLines) isScalar(n *node) bool {
	written := l.rest
	l.next()
	switch n.kind {
	case boolean:
		return written == n.scalar && (written == "true" || written == "false")
	case integer:
		return written == n.scalar && isPlainInteger(written)
	case text:
		return written == n.scalar && isPlainText(written) || isQuoted(written, n.scalar)
	case list:
		return written == "[]" && len(n.items) == 0
	case mapping:
		return written == "{}" && len(n.entries) == 0
	default:
		return false
	}
}

// The most bytes of a key and of an integer that are taken for plain. Parsers have limits, which are larger.
const (
	maxPlainKey     = 100
	maxPlainInteger = 9
)

func isPlainKey(s string) bool {
	return len(s) <= maxPlainKey && isPlainText(s) && !strings.ContainsAny(s, ":")
}

// isPlainText reports whether every parser reads a text where these bytes stand without quotes: it is
// no number, and no word such as yes. Nothing in it ends a text or begins something else.
func isPlainText(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && s[i] != '/' && (i == 0 || !isDigit(s[i]) && !strings.ContainsRune("_.:-", rune(s[i]))) {
			return false
		}
	}
	return s != "" && s[len(s)-1] != ':' && !isWord(s)
}

// isWord reports whether a parser may read a word as a boolean or as nothing.
func isWord(s string) bool {
	lower := strings.ToLower(s)
	return lower == "true" || lower == "false" || lower == "null" || isBooleanWord(lower)
}

func isPlainInteger(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s == "0" || s != "" && len(s) <= maxPlainInteger && s[0] != '0'
}

// isQuoted reports whether a text is written in quotes, and means itself there.
func isQuoted(written, meant string) bool {
	quote := written[:min(1, len(written))]
	return (quote == `"` || quote == "'") && written == quote+meant+quote && isPrintable(meant) && !strings.ContainsAny(meant, `"'\`)
}

// isPrintable reports whether a text is of printable ASCII.
func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
