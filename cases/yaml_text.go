package cases

import (
	"regexp"
	"strconv"
	"strings"
)

// fields are the entries of a mapping, each as it is written.
type fields []string

// add leaves a field without a value out.
func (f *fields) add(key, value string) {
	if value != "" {
		*f = append(*f, key+": "+value)
	}
}

// flow is the mapping on one line.
func (f fields) flow() string { return "{" + strings.Join(f, ", ") + "}" }

// orNone is flow, and no value for a mapping without entries.
func (f fields) orNone() string {
	if len(f) == 0 {
		return ""
	}
	return f.flow()
}

// text is the value of a field whose default is the empty text.
func text(s string) string {
	if s == "" {
		return ""
	}
	return quote(s)
}

// texts is a list on one line, no value for one that is absent.
func texts[T ~string](list []T) string {
	if list == nil {
		return ""
	}
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(string(s))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// mapping is a mapping of texts on one line, by key, no value for one that is absent.
func mapping(m map[string]string) string {
	if m == nil {
		return ""
	}
	var f fields
	for _, key := range sortedKeys(m) {
		f.add(quote(key), quote(m[key]))
	}
	return f.flow()
}

func number(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}

// What may stand without quotes because no reader of YAML, 1.1 or 1.2, within braces
// or not, takes it for anything but this text: words, paths, URIs, versions and
// addresses.
var (
	bareText    = regexp.MustCompile(`^[A-Za-z/](?:[A-Za-z0-9_./-]|:/)*$`)
	bareNumbers = regexp.MustCompile(`^[0-9]{1,3}(?:\.[0-9]{1,3}){2,3}$`)
	// A sentence is more than a word, and stands outside of braces.
	bareSentence = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(?:,? [A-Za-z0-9_/][A-Za-z0-9_./-]*)+$`)
)

// quote writes a text, in quotes where it needs them. An escape of Go's is one of
// YAML's too.
func quote(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
	default:
		if bareText.MatchString(s) || bareNumbers.MatchString(s) {
			return s
		}
	}
	return strconv.Quote(s)
}

// sentence is quote for a text that has a line of its own.
func sentence(s string) string {
	if bareSentence.MatchString(s) {
		return s
	}
	return quote(s)
}
