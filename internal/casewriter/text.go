package casewriter

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fields are the entries of a mapping, each as "key: value".
type fields []string

// add adds an entry, unless it has no value.
func (f *fields) add(key, value string) {
	if value != "" {
		*f = append(*f, key+": "+value)
	}
}

// flow is the mapping on one line.
func (f fields) flow() string { return "{" + strings.Join(f, ", ") + "}" }

// orNone is flow, or no value for a mapping without entries.
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

// texts is a list on one line, or no value for a nil list.
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

// mapping is a mapping on one line, in the order of its keys, or no value for a nil map.
func mapping(m map[string]string) string {
	if m == nil {
		return ""
	}
	var f fields
	for _, key := range slices.Sorted(maps.Keys(m)) {
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

// Texts that need no quotes: no reader of YAML 1.1 or 1.2 takes them for anything but this text, within braces or outside.
// They are words, paths, URIs, versions and addresses.
var (
	plainText    = regexp.MustCompile(`^[A-Za-z/](?:[A-Za-z0-9_./-]|:/)*$`)
	plainNumbers = regexp.MustCompile(`^[0-9]{1,3}(?:\.[0-9]{1,3}){2,3}$`)
	// A sentence has several words. It is plain outside of braces only.
	plainSentence = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*(?:,? [A-Za-z0-9_/][A-Za-z0-9_./-]*)+$`)
)

// quote writes a text, in quotes where it needs them. YAML has all escapes of Go.
func quote(s string) string {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
	default:
		if plainText.MatchString(s) || plainNumbers.MatchString(s) {
			return s
		}
	}
	return strconv.Quote(s)
}

// sentence is quote for a text outside of braces.
func sentence(s string) string {
	if plainSentence.MatchString(s) {
		return s
	}
	return quote(s)
}
