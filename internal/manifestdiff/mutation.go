package manifestdiff

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// programs have what expressions in documents may ask for.
type programs struct {
	// texts are those of objects that change others, words their words, and patterns those words with "*" or "?".
	texts    []string
	words    map[string]bool
	patterns []string
	// asked are the keys that an expression of any unknown object asks labels or annotations for.
	asked map[string]bool
}

// asking is an expression, or a template, that asks for a label or an annotation without a domain.
var asking = regexp.MustCompile(`(?i)(?:labels|annotations)\.\??([a-z0-9_-]+)`)

// add adds an unknown document.
func (p *programs) add(o clusterobject.Object) {
	mutates := o.Mutates()
	fieldvalue.EachText(o.Fields, func(text string) {
		for _, found := range asking.FindAllStringSubmatch(text, -1) {
			p.asked[found[1]] = true
		}
		if !mutates {
			return
		}
		p.texts = append(p.texts, text)
		for _, word := range strings.FieldsFunc(text, func(r rune) bool {
			return !strings.ContainsRune("-_*?", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			p.words[strings.Trim(word, "*?")] = true
		}
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("{}[]\"',: \n\t()|=", r) }) {
			if strings.ContainsAny(word, "*?") && strings.Trim(word, "*?/") != "" {
				p.patterns = append(p.patterns, word)
			}
		}
	})
}

// askFor reports whether something may ask for a label or an annotation. Of what changes other objects this is
// so where it has the key, or the last part of the key, anywhere in a text.
func (p *programs) askFor(key string) bool {
	if p.asked[key] || p.words[key[strings.LastIndexByte(key, '/')+1:]] || slices.ContainsFunc(p.texts, func(text string) bool { return strings.Contains(text, key) && strings.Contains(key, "/") }) {
		return true
	}
	return slices.ContainsFunc(p.patterns, func(pattern string) bool {
		matches, err := path.Match(pattern, key)
		return matches || err != nil
	})
}

// isParameter reports whether what changes other objects may ask for a label of an object: it may take values out
// of the objects that it selects so.
func (c *comparison) isParameter(o clusterobject.Object) bool {
	for key := range o.GivenLabels() {
		if c.programs.askFor(key) {
			return true
		}
	}
	return false
}
