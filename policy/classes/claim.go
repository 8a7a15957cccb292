package classes

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

var _ = addFamily("claim", func(a *policy.Attribute) row {
	path, form := claim.Path(a.Key)
	of := func(on Surface) claimSpace {
		s := claimSpace{plainSpace: plainSpace{a}, path: path, form: form, demand: on.demand()}
		name := func(form string) string { return claimName(path, form) }
		for mark, other := range formsBeside(form) {
			s.others[mark] = name(other)
		}
		for _, other := range claimForms {
			if other != form && !(inList(other) && inList(form)) {
				s.instead = append(s.instead, name(other))
			}
		}
		for i := range path[1:] {
			s.parents = append(s.parents, claimName(path[:i+1], claim.Any))
		}
		return s
	}
	r := row{
		rank:    9,
		space:   func(on Surface) space { return of(on) },
		pattern: func(m policy.Match) pattern { return pattern{text: nameMark + m.Value, kind: m.Kind} },
		usual:   func(on Surface) string { return of(on).usual() },
		// Only automata know which texts are numbers.
		mixes: form != "" && form != claim.List,
	}
	if a.Each != nil {
		r.several = true
		r.space = func(on Surface) space { return claimListSpace{of(on)} }
		r.usual = func(Surface) string { return absent }
	}
	return r
})

// claimForms are the forms of claims. An object, and a list with nothing that another form shows,
// have the last one.
var claimForms = []string{"", claim.List, claim.Scalar, claim.ScalarList, claim.Any}

func inList(form string) bool { return form == claim.List || form == claim.ScalarList }

// claimName returns the name of the attribute that shows a claim in a form.
func claimName(path []string, form string) string {
	if form == "" {
		return "claim " + claim.Key(path...)
	}
	return "claim " + claim.Key(append(slices.Clone(path), form)...)
}

// formsBeside returns two of the forms that a claim may have instead: that behind [asOther], and
// that behind [asThird].
func formsBeside(form string) [2]string {
	switch form {
	case claim.List:
		return [2]string{"", claim.Scalar}
	case claim.Scalar, claim.Any:
		return [2]string{"", claim.List}
	case claim.ScalarList:
		return [2]string{claim.Scalar, claim.List}
	default:
		return [2]string{claim.List, claim.Scalar}
	}
}

// No text of JSON has these bytes, since they are no UTF-8.
const (
	// absent is the value of a token without the claim, and of a request without a token.
	absent = "\xfe"
	// asOther begins a value that stands in a list where a text is meant, or the other way.
	asOther = "\xfd"
	// asThird begins a value that is a number, true, false or null where a text or a list is
	// meant, and a list where such a value is meant.
	asThird = "\xfc"
	// listSeparator stands between the texts of a list.
	listSeparator = "\xff"
)

// claimSpace is the space of the texts of a claim. A mark in front of each key keeps a token
// without the claim out of every pattern.
type claimSpace struct {
	plainSpace
	// others are the names of the attributes that show the same claim in the other forms, see
	// [formsBeside].
	others [2]string
	// instead are the names of those that show what the claim cannot be at the same time, and parents
	// those of the objects that it stands in.
	instead, parents []string
	path             []string
	form             string
	// demand is what the inbound demands of tokens.
	demand token.Demand
}

// usual is a text that a token cannot be without, and else no claim.
func (s claimSpace) usual() string {
	if texts := s.onlyTexts(); len(texts) > 0 && s.impossible("") == nil {
		return texts[0]
	}
	return absent
}

// onlyTexts returns the only texts that a token can have, and none where it can have others: the
// issuers, and the audiences where each issuer has some.
func (s claimSpace) onlyTexts() (texts []string) {
	for _, issuer := range s.demand.Issuers {
		var of []string
		switch s.attribute.Key {
		case "iss":
			of = slices.DeleteFunc([]string{issuer.Name}, func(name string) bool { return name == "" })
		case "aud":
			of = issuer.Takes()
		}
		if len(of) == 0 {
			return nil
		}
		texts = append(texts, of...)
	}
	return texts
}

// impossible returns why no token that the inbound takes has a value of the form at the path.
// The claims of RFC 7519, section 4.1, have types of their own, as Envoy reads them.
func (s claimSpace) impossible(form string) error {
	only, ok := "", true
	switch s.path[0] {
	case "iss", "sub", "jti":
		only, ok = "a text", form == ""
	case "aud":
		only, ok = "a text or a list of texts", form != claim.Scalar && form != claim.ScalarList
	case "exp", "nbf", "iat":
		only, ok = "a number of the lab's choice", false
	}
	switch {
	case !s.demand.Reads():
		return errors.New("the inbound verifies no token")
	case only != "" && (!ok || len(s.path) > 1):
		return fmt.Errorf("the claim %s of a token is %s", s.path[0], only)
	}
	return nil
}

// spaced reports whether the policies see a text with words as a list with every issuer.
func (s claimSpace) spaced() bool {
	return len(s.path) == 1 && s.demand.Reads() && s.demand.Spaces(s.path[0]) == len(s.demand.Issuers)
}

// claimListSpace is the space of the lists of texts at a claim.
type claimListSpace struct{ claimSpace }

func (s claimSpace) read(r *policy.Request) string {
	if texts, ok := r.Others[s.attribute.Name]; ok {
		return strings.Join(texts, listSeparator)
	}
	return absent
}

func (s claimSpace) put(r *policy.Request, value string) { s.setTexts(r, value, []string{value}) }

func (s claimListSpace) put(r *policy.Request, value string) {
	s.setTexts(r, value, strings.Split(value, listSeparator))
}

// setTexts gives a request the texts of the claim.
func (s claimSpace) setTexts(r *policy.Request, value string, texts []string) {
	s.clear(r)
	name := s.attribute.Name
	for i, mark := range []string{asOther, asThird} {
		if other, ok := strings.CutPrefix(value, mark); ok {
			name, texts = s.others[i], []string{other}
		}
	}
	if value == absent {
		return
	}
	if r.Others == nil {
		r.Others = map[string][]string{}
	}
	r.Others[name] = texts
	for _, name := range s.parents {
		r.Others[name] = []string{token.Object}
	}
}

// clear takes the claim away in every form: a token has it once. A list may have texts and numbers.
func (s claimSpace) clear(r *policy.Request) {
	r.Others = maps.Clone(r.Others)
	delete(r.Others, s.attribute.Name)
	for _, other := range s.instead {
		delete(r.Others, other)
	}
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
	return s.soundMarked(value)
}

// soundMarked returns why no token has a value, which may be in another form.
func (s claimSpace) soundMarked(value string) error {
	others := formsBeside(s.form)
	for i, mark := range []string{asOther, asThird} {
		if text, ok := strings.CutPrefix(value, mark); ok {
			return s.soundText(text, others[i])
		}
	}
	return s.soundText(value, s.form)
}

func (s claimListSpace) sound(value string) error {
	if value == absent {
		return nil
	}
	for text := range strings.SplitSeq(value, listSeparator) {
		if err := s.soundMarked(text); err != nil {
			return err
		}
	}
	return nil
}

// soundText returns why no token has the text in that form at the path.
func (s claimSpace) soundText(text, form string) error {
	if err := s.impossible(form); err != nil {
		return err
	}
	texts := s.onlyTexts()
	switch {
	case (form == claim.Scalar || form == claim.ScalarList) && token.ScalarText(text) != text:
		return fmt.Errorf("%q is no number, true, false or null", text)
	case form == claim.Any && text != token.EmptyList && (text != token.Object || s.attribute.Key == "aud?"):
		return fmt.Errorf("%q is no object and no empty list that the inbound takes", text)
	case form == "" && s.spaced() && strings.Trim(text, " ") != "":
		return fmt.Errorf("the policies see the %s %q as a list of its words", s.name(), text)
	case !utf8.ValidString(text):
		return fmt.Errorf("no token has the %s %q: JSON has UTF-8 only", s.name(), text)
	case form == "" && len(texts) > 0 && !slices.Contains(texts, text):
		return fmt.Errorf("the inbound takes no token with the %s %q", s.name(), text)
	}
	return nil
}

func (s claimSpace) complete(prefix string, n int) []string {
	switch texts := s.onlyTexts(); {
	case len(texts) > 0 && s.impossible("") == nil:
		return append(slices.DeleteFunc(texts, func(text string) bool { return !strings.HasPrefix(s.key(text), prefix) }), absent)
	case s.spaced():
		return []string{absent, "", " "}
	case prefix == "":
		return []string{absent, filler(n)}
	default:
		return s.plainSpace.complete(s.value(prefix), n)
	}
}

// neighbours has the claim as a list, and as a text of two, too: a compiler may ask for the
// wrong one of them.
func (s claimSpace) neighbours(p pattern, witness string) []variant {
	if witness == absent || witness != "" && strings.Contains(asOther+asThird, witness[:1]) {
		return nil
	}
	if s.form == claim.Any {
		return []variant{
			{absent, "no such claim"},
			{asOther + "x", "the claim as a text"},
			{asThird + "x", "the claim as a list"},
			{map[string]string{token.Object: token.EmptyList, token.EmptyList: token.Object}[witness], "a list for an object"},
		}
	}
	if s.form == claim.Scalar {
		return []variant{
			{absent, "no such claim"},
			{asOther + witness, "the claim as a text"},
			{asThird + witness, "the claim as a list"},
			{witness + "1", "a larger number"},
			{"-" + witness, "a number below zero"},
			{map[string]string{"true": "false", "false": "true"}[witness], "the other truth value"},
			{"null", "a claim without a value"},
		}
	}
	var out []variant
	for _, text := range s.onlyTexts() {
		out = append(out, variant{text, "another that the inbound takes"})
	}
	return append(out, []variant{
		{absent, "no such claim"},
		{asOther + witness, "the claim as a list"},
		{asThird + witness, "the claim as a number or a truth value"},
		{witness + ",x", "two texts in one"},
		{witness + "x", "a longer text"},
		{"x" + witness, "another text with the same end"},
		{swapCase(witness), "another case"},
		{witness[:max(0, len(witness)-1)], "a shorter text"},
	}...)
}

func (s claimListSpace) neighbours(_ pattern, witness string) []variant {
	if witness == absent || strings.HasPrefix(witness, asOther) {
		return nil
	}
	texts := strings.Split(witness, listSeparator)
	reversed := slices.Clone(texts)
	slices.Reverse(reversed)
	return []variant{
		{absent, "no such claim"},
		{asOther + texts[0], "the claim by itself"},
		{asThird + texts[0], "the claim in another form"},
		{strings.Join(texts, ",") + ",x", "all texts in one"},
		{"x" + listSeparator + witness, "a longer list"},
		{witness + listSeparator + "0", "a longer list of numbers"},
		{texts[0] + "1", "a larger number"},
		{strings.Join(reversed, listSeparator), "the list in another order"},
		{strings.Join(texts[1:], listSeparator), "a shorter list"},
		{swapCase(witness), "another case"},
	}
}

func (s claimSpace) describe(p pattern) string {
	if p.kind == policy.Exact {
		return fmt.Sprintf("%s %q", s.name(), s.value(p.text))
	}
	return fmt.Sprintf("%s %q…", s.name(), strings.TrimPrefix(p.text, nameMark))
}

// utf8Text are all texts of JSON.
const utf8Text = `([\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|(\xe0[\xa0-\xbf]|\xed[\x80-\x9f]|[\xe1-\xec\xee\xef][\x80-\xbf])[\x80-\xbf]|(\xf0[\x90-\xbf]|\xf4[\x80-\x8f]|[\xf1-\xf3][\x80-\xbf])[\x80-\xbf]{2})*`

// sendable implements [sender].
func (s claimSpace) sendable() (natural, all string, without []string) { return s.textsOf(s.form) }

// sendable implements [sender]. It is about a single text of the list.
func (s claimListSpace) sendable() (natural, all string, without []string) {
	return s.textsOf(s.form)
}

func (s claimSpace) textsOf(form string) (natural, all string, without []string) {
	natural, all = `[a-z][a-z0-9-]*`, utf8Text
	switch form {
	case claim.Scalar, claim.ScalarList:
		natural, all = `[1-9][0-9]?`, scalars
	case claim.Any:
		natural, all = `\{\}|\[\]`, `\{\}|\[\]`
		if s.attribute.Key == "aud?" {
			natural, all = `\[\]`, `\[\]`
		}
	}
	if texts := s.onlyTexts(); len(texts) > 0 && form == "" {
		natural, all = oneOf(texts), oneOf(texts)
	}
	if s.spaced() && form == "" {
		natural, all = ` *`, ` *`
	}
	if s.impossible(form) != nil {
		without = []string{`(?s).*`}
	}
	return natural, all, without
}
