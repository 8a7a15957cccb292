package policy

import (
	"sync"

	"github.com/meshproof/meshproof/internal/automaton"
)

// regexCache keeps the regular expressions that were asked last. Conditions are values, and
// carry nothing but the text of an expression.
type regexCache struct {
	sync.RWMutex
	languages map[regexKey]*automaton.Language
}

type regexKey struct {
	expression string
	asUTF8     bool
}

// maxRegexes bounds the cache.
const maxRegexes = 8192

var regexes regexCache

// language returns the texts that an expression matches, and nil where it cannot be read.
func (c *regexCache) language(expression string, asUTF8 bool) *automaton.Language {
	key := regexKey{expression, asUTF8}
	c.RLock()
	l, ok := c.languages[key]
	c.RUnlock()
	if ok {
		return l
	}
	l, _ = compile(expression, asUTF8)
	c.Lock()
	defer c.Unlock()
	if c.languages == nil || len(c.languages) >= maxRegexes {
		c.languages = map[regexKey]*automaton.Language{}
	}
	c.languages[key] = l
	return l
}

func compile(expression string, asUTF8 bool) (*automaton.Language, error) {
	as := automaton.Latin1
	if asUTF8 {
		as = automaton.UTF8
	}
	return automaton.Regex(expression, as)
}
