package policy

import (
	"sync"

	"github.com/meshproof/meshproof/internal/automaton"
)

// languageCache keeps the languages of regular expressions and templates that were asked
// last. Conditions are values, and carry nothing but a text.
type languageCache struct {
	sync.RWMutex
	known map[languageKey]*automaton.Language
}

type languageKey struct {
	kind   MatchKind
	text   string
	asUTF8 bool
}

// maxLanguages bounds the cache.
const maxLanguages = 8192

var languages languageCache

// language returns the texts that a regular expression or a template matches, and nil where it
// cannot be read.
func (c *languageCache) language(key languageKey) *automaton.Language {
	c.RLock()
	l, ok := c.known[key]
	c.RUnlock()
	if ok {
		return l
	}
	l = key.compile()
	c.Lock()
	defer c.Unlock()
	if c.known == nil || len(c.known) >= maxLanguages {
		c.known = map[languageKey]*automaton.Language{}
	}
	c.known[key] = l
	return l
}

func (k languageKey) compile() (l *automaton.Language) {
	switch {
	case k.kind == Template:
		l, _ = automaton.Template(k.text)
	case k.asUTF8:
		l, _ = automaton.Regex(k.text, automaton.UTF8)
	default:
		l, _ = automaton.Regex(k.text, automaton.Latin1)
	}
	return l
}
