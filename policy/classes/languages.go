package classes

import (
	"fmt"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/policy"
)

// expression is a language that is known to be sound.
type expression struct{ *automaton.Language }

// language returns the language of an expression of this package.
func language(text string) expression {
	l, err := automaton.Regex(text, automaton.Latin1)
	if err != nil {
		panic(fmt.Sprintf("classes: %s: %v", text, err))
	}
	return expression{l}
}

func (e expression) minus(without []string) *automaton.Language {
	var others []*automaton.Language
	for _, text := range without {
		others = append(others, language(text).Language)
	}
	if len(others) == 0 {
		return e.Language
	}
	l, err := e.Minus(others...)
	if err != nil {
		panic("classes: " + err.Error())
	}
	return l
}

func languagesOf(s space) []*automaton.Language {
	in, ok := s.(sender)
	if !ok {
		return []*automaton.Language{language(`[!-~]*`).Language}
	}
	natural, all, without := in.sendable()
	return []*automaton.Language{language(natural).minus(without), language(all).minus(without)}
}

// anyBytes are all texts.
var anyBytes = sync.OnceValue(func() *automaton.Language { return automaton.Literal("", true, true, false) })

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
	default:
		a.language = automaton.Literal(m.Value, m.Kind == policy.Suffix || m.Kind == policy.Contains, m.Kind == policy.Prefix || m.Kind == policy.Contains, m.AnyCase)
	}
	if a.within != nil && a.language != nil {
		a.language = a.within(a.language)
	}
	return a.language
}

// matches reports whether a text has some atoms, and none of the others.
func (v *values) matches(l literals, text string) bool {
	has := func(at int32) bool {
		if a := &v.atoms[at]; a.within == nil {
			return a.is.Match.Matches(text)
		}
		return v.languageOf(at).Matches(text)
	}
	return !slices.ContainsFunc(l.with, func(at int32) bool { return !has(at) }) && !slices.ContainsFunc(l.without, has)
}
