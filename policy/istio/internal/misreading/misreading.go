// Package misreading says which values of an AuthorizationPolicy do not do what their author
// may mean, and what to write.
//
// It guarantees that it reads values alone: the name of the field, the value and the values
// beside it. What a value does on an inbound, and whether its rule keeps out or lets in, is for the
// caller to say. It refuses nothing: each value that it names is a legal one.
package misreading

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/warning"
)

// Misreading is what a value does instead of what its author may mean. The zero value is none.
type Misreading struct {
	Kind warning.Kind
	// Reason ends in what to write, where that is known.
	Reason string
}

// List is what a value stands in.
type List struct {
	// Values are all of the list, the value itself among them.
	Values []string
	// Rewritten says why no request has a path by the time that it is compared, "" where one may have it. Without it
	// a request may have each path.
	Rewritten func(path string) string
}

func (l List) rewritten(path string) string {
	if l.Rewritten == nil {
		return ""
	}
	return l.Rewritten(path)
}

// finders find the misreading of a value, by the field that AuthorizationPolicy has for the subject.
var finders = map[string]func(value string, beside List) Misreading{
	"principals":        func(value string, _ List) Misreading { return ofPrincipal(value) },
	"namespaces":        func(value string, _ List) Misreading { return ofNamespace(value) },
	"trustDomains":      func(value string, _ List) Misreading { return insideName("trustDomains", value) },
	"serviceAccounts":   func(value string, _ List) Misreading { return ofAccount(value) },
	"requestPrincipals": func(value string, _ List) Misreading { return ofTokenPrincipal(value) },
	"connection.sni":    func(value string, _ List) Misreading { return ofServerName(value) },
	"methods":           func(value string, _ List) Misreading { return ofMethod(value) },
	"paths":             ofPath,
	"hosts":             ofHost,
}

// starredInside are the subjects that take a star inside a value, or whose finders say what is wrong with it.
var starredInside = map[string]bool{"namespaces": true, "serviceAccounts": true, "requestPrincipals": true}

// Find returns the misreading of a value of the list, which is not empty. The subject is the name of a field, such as
// principals, or the key of a condition that has no field.
func Find(subject, value string, beside List) Misreading {
	if find := finders[subject]; find != nil {
		if found := find(value, beside); found != (Misreading{}) {
			return found
		}
	}
	if !starredInside[subject] && !isTemplate(subject, value) && strings.Contains(withoutStar(value), "*") {
		return Misreading{warning.StarInTheMiddle, "a star inside a value is the character itself: only one at the start or the end stands for other text"}
	}
	return Misreading{}
}

// IsInsideName reports whether a kind is about a star behind the beginning of a name, or in front of its end: the value
// also stands for longer names.
func IsInsideName(kind warning.Kind) bool {
	return kind == warning.PathInsideName || kind == warning.PrefixInsideName
}

// never is the misreading of a value that no caller and no request has.
func never(reason string) Misreading { return Misreading{warning.NeverMatches, reason} }

// withoutStar returns a value without the star that stands for other text: the one at its start, else the one at its end.
// A star at the start makes one at the end the character itself.
func withoutStar(value string) string {
	if rest, starts := strings.CutPrefix(value, "*"); starts {
		return rest
	}
	return strings.TrimSuffix(value, "*")
}

// endsInName reports whether the beginning of a name breaks off inside it, or behind a whole one.
func endsInName(begin string) bool {
	last, _ := utf8.DecodeLastRuneInString(begin)
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}

// startsInName reports whether the end of a name breaks off inside it.
func startsInName(end string) bool {
	first, _ := utf8.DecodeRuneInString(end)
	return unicode.IsLetter(first) || unicode.IsDigit(first)
}
