package classes

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
)

// languages has the languages of expressions that were asked for before: most covers ask for
// the same few.
var languages struct {
	sync.Mutex
	byKey map[string]*automaton.Language
}

// maxLanguages bounds how many languages are kept.
const maxLanguages = 500

// language returns the language of an expression of this package, without that of others.
func language(text string, without ...string) *automaton.Language {
	key := strings.Join(append([]string{text}, without...), "\n")
	languages.Lock()
	l := languages.byKey[key]
	languages.Unlock()
	if l != nil {
		return l
	}
	l, err := automaton.Texts(text)
	if err == nil && len(without) > 0 {
		others := make([]*automaton.Language, len(without))
		for i, other := range without {
			others[i] = language(other)
		}
		l, err = l.Minus(others...)
	}
	if err != nil {
		panic(fmt.Sprintf("classes: %s: %v", text, err))
	}
	languages.Lock()
	defer languages.Unlock()
	if languages.byKey == nil || len(languages.byKey) == maxLanguages {
		languages.byKey = map[string]*automaton.Language{}
	}
	languages.byKey[key] = l
	return l
}

func languagesOf(s space) []*automaton.Language {
	in, ok := s.(sender)
	if !ok {
		return []*automaton.Language{language(`[!-~]*`)}
	}
	natural, all, without := in.sendable()
	return []*automaton.Language{language(natural, without...), language(all, without...)}
}

// anyBytes are all texts.
var anyBytes = sync.OnceValue(func() *automaton.Language { return automaton.Literal("", true, true, false) })

// anyName are the texts that a certificate may have for a name. No URI and no name of DNS has an
// end of a line (RFC 3986), which the dot of a regular expression does not match.
var anyName = sync.OnceValue(func() *automaton.Language { return language(`[^\n]*`) })

// languageOf returns the texts that an atom matches, and nil where they are not known.
func (v *values) languageOf(at int32) *automaton.Language {
	a := &v.atoms[at]
	if a.language != nil {
		return a.language
	}
	m := a.is.Match
	switch m.Kind {
	case policy.Segments:
		if a.language = automaton.Segments(m.Segment()); m.Segment() == "" {
			a.language = automaton.Literal("", true, true, false)
		}
	case policy.Regex:
		a.language, _ = automaton.Regex(m.Value, automaton.Latin1)
	case policy.Template:
		a.language, _ = automaton.Template(m.Value)
	case policy.Present:
		a.language = anyBytes()
	case policy.Range:
		a.language = numbersIn(m.Value)
	default:
		a.language = automaton.Literal(m.Value, m.Kind == policy.Suffix || m.Kind == policy.Contains, m.Kind == policy.Prefix || m.Kind == policy.Contains, m.AnyCase)
	}
	if a.embed != nil && a.language != nil {
		a.language = a.embed(a.language)
	}
	return a.language
}

// matches reports whether a text has some atoms, and none of the others.
func (v *values) matches(l literals, text string) bool {
	has := func(at int32) bool {
		if a := &v.atoms[at]; a.embed == nil {
			return a.is.Match.Matches(text)
		}
		return v.languageOf(at).Matches(text)
	}
	return !slices.ContainsFunc(l.present, func(at int32) bool { return !has(at) }) && !slices.ContainsFunc(l.absent, has)
}
