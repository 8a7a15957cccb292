package classes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/policy"
)

var _ = addFamily("claim", func(a *policy.Attribute) row {
	s := claimSpace{plainSpace: plainSpace{a}, other: a.Family + " " + otherKind(a.Key)}
	r := row{
		rank:    9,
		space:   func(Surface) space { return s },
		pattern: func(m policy.Match) pattern { return pattern{text: nameMark + m.Value, kind: m.Kind} },
		usual:   func(Surface) string { return absent },
	}
	if a.Each != nil {
		r.several, r.space = true, func(Surface) space { return claimListSpace{s} }
	}
	return r
})

// otherKind returns the key of the same claim as a list, or as a text.
func otherKind(key string) string {
	if text, list := strings.CutSuffix(key, claim.List); list {
		return text
	}
	return key + claim.List
}

// No text of JSON has these bytes, since they are no UTF-8.
const (
	// absent is the value of a token without the claim, and of a request without a token.
	absent = "\xfe"
	// asOther begins a value that stands in a list where a text is meant, or the other way.
	asOther = "\xfd"
	// between stands between the texts of a list.
	between = "\xff"
)

// claimSpace is the space of the texts of a claim. A mark in front of each key keeps a token
// without the claim out of every pattern.
type claimSpace struct {
	plainSpace
	// other is the name of the attribute that shows the same claim as a list, or as a text.
	other string
}

// claimListSpace is the space of the lists of texts at a claim.
type claimListSpace struct{ claimSpace }

func (s claimSpace) read(r *policy.Request) string {
	if texts, ok := r.Others[s.attribute.Name]; ok {
		return strings.Join(texts, between)
	}
	return absent
}

func (s claimSpace) put(r *policy.Request, value string) { s.give(r, value, []string{value}) }

func (s claimListSpace) put(r *policy.Request, value string) {
	s.give(r, value, strings.Split(value, between))
}

// give gives a request the texts of the claim.
func (s claimSpace) give(r *policy.Request, value string, texts []string) {
	s.clear(r)
	name := s.attribute.Name
	if other, ok := strings.CutPrefix(value, asOther); ok {
		name, texts = s.other, []string{other}
	}
	if value == absent {
		return
	}
	if r.Others == nil {
		r.Others = map[string][]string{}
	}
	r.Others[name] = texts
}

// clear takes the claim away in either form: a token has it once.
func (s claimSpace) clear(r *policy.Request) {
	r.Others = maps.Clone(r.Others)
	delete(r.Others, s.attribute.Name)
	delete(r.Others, s.other)
	if len(r.Others) == 0 {
		r.Others = nil
	}
}

func (claimSpace) key(value string) string {
	if value == absent {
		return ""
	}
	return nameMark + value
}

func (claimSpace) value(key string) string {
	if key == "" {
		return absent
	}
	return strings.TrimPrefix(key, nameMark)
}

func (s claimSpace) sound(value string) error {
	if value == absent {
		return nil
	}
	if !utf8.ValidString(strings.TrimPrefix(value, asOther)) {
		return fmt.Errorf("no token has the %s %q: JSON has UTF-8 only", s.name(), value)
	}
	return nil
}

func (s claimListSpace) sound(value string) error {
	for text := range strings.SplitSeq(value, between) {
		if err := s.claimSpace.sound(text); err != nil {
			return err
		}
	}
	return nil
}

func (s claimSpace) complete(prefix string, n int) []string {
	if prefix == "" {
		return []string{absent, filler(n)}
	}
	return s.plainSpace.complete(s.value(prefix), n)
}

// around has the claim as a list, and as a text of two, too: a compiler may ask for the
// wrong one of them.
func (s claimSpace) around(p pattern, witness string) []variant {
	if witness == absent || strings.HasPrefix(witness, asOther) {
		return nil
	}
	return []variant{
		{absent, "no such claim"},
		{asOther + witness, "the claim as a list"},
		{witness + ",x", "two texts in one"},
		{witness + "x", "a longer text"},
		{"x" + witness, "another text with the same end"},
		{swapCase(witness), "another case"},
		{witness[:max(0, len(witness)-1)], "a shorter text"},
	}
}

func (s claimListSpace) around(_ pattern, witness string) []variant {
	if witness == absent || strings.HasPrefix(witness, asOther) {
		return nil
	}
	texts := strings.Split(witness, between)
	reversed := slices.Clone(texts)
	slices.Reverse(reversed)
	return []variant{
		{absent, "no such claim"},
		{asOther + texts[0], "the claim as a text"},
		{strings.Join(texts, ",") + ",x", "all texts in one"},
		{"x" + between + witness, "a longer list"},
		{strings.Join(reversed, between), "the list in another order"},
		{strings.Join(texts[1:], between), "a shorter list"},
		{swapCase(witness), "another case"},
	}
}

func (s claimSpace) describe(p pattern) string {
	if p.kind == policy.Exact {
		return fmt.Sprintf("%s %q", s.name(), s.value(p.text))
	}
	return fmt.Sprintf("%s %q…", s.name(), strings.TrimPrefix(p.text, nameMark))
}

// sendable implements [sender].
func (claimSpace) sendable() (natural, all string, without []string) {
	return `[a-z][a-z0-9-]*`, `[ -~]*`, nil
}

var (
	errTwoKinds = errors.New("a claim is a text or a list, and not both")
	errNoObject = errors.New("a claim with claims below it is an object, and no text")
)

// checkClaims returns why no token has the claims of a request.
func checkClaims(r *policy.Request) error {
	for name := range r.Others {
		path, list := claimPath(name)
		if path == nil {
			continue
		}
		if _, both := r.Others["claim "+claim.Key(path...)]; both && list {
			return errTwoKinds
		}
		for above := 1; above < len(path); above++ {
			key := "claim " + claim.Key(path[:above]...)
			_, text := r.Others[key]
			_, texts := r.Others[key+claim.List]
			if text || texts {
				return errNoObject
			}
		}
	}
	return nil
}

// claimPath returns the path of an attribute of the family, and none for another.
func claimPath(name string) (path []string, list bool) {
	key, ok := strings.CutPrefix(name, "claim ")
	if !ok {
		return nil, false
	}
	return claim.Path(key)
}
