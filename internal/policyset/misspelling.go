package policyset

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/policyset/tree"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Misspellings makes cases that must be refused from sound ones. It knows the reasons for which written cases say that
// policies must be refused, and makes no case that is refused for another one.
type Misspellings struct {
	reasons map[refusal]bool
	// fields are those of the reasons.
	fields map[string]bool
	told   map[misspelling]bool
}

// refusal is a reason: the profile, the field without its places in lists, and what is wrong, without what stands there.
type refusal struct {
	profile       feature.Profile
	field, reason string
}

// misspelling is a reason, and the form of the value that was refused for it.
type misspelling struct {
	refusal
	form int
}

// NewMisspellings reads the reasons of cases that must be refused.
func NewMisspellings(refused []cases.Case) *Misspellings {
	m := &Misspellings{reasons: map[refusal]bool{}, fields: map[string]bool{}, told: map[misspelling]bool{}}
	for _, c := range refused {
		if r, ok := refusalOf(c); ok {
			m.reasons[r], m.fields[r.field] = true, true
		}
	}
	return m
}

// refusalOf returns why the policies of a case are refused. It returns false where they are not, or where the error is
// about no field.
func refusalOf(c cases.Case) (refusal, bool) {
	_, err := verdict.Read(c)
	wrong := new(manifest.Error)
	if !errors.As(err, &wrong) || len(c.Policies) == 0 {
		return refusal{}, false
	}
	return refusal{
		profile: tree.Profile(c.Policies[0]),
		field:   strings.TrimPrefix(inLists.ReplaceAllString(wrong.Field, "[]"), "policies[]."),
		reason:  repeated.ReplaceAllString(wrong.Reason, "…"),
	}, true
}

var (
	// inLists is the place in a list, or the key of a label.
	inLists = regexp.MustCompile(`\[[^]]*\]`)
	// repeated is what a reason repeats of the policy.
	repeated = regexp.MustCompile(`"(\\.|[^"\\])*"|[0-9]+`)
)

// mostMisspellings bounds how many misspellings of a sound case are read. Many of them are sound too, or wrong in a way
// that no case has.
const mostMisspellings = 12

// Next makes a case from a sound one, whose policies have one value in another form: in capitals, with a dot or a slash
// more, empty, or missing. It prefers a reason and a form that it has not made yet. So a compiler that knows the refused
// policies of the cases, and not the rule behind them, is told. The result is false where no such form was found.
func (m *Misspellings) Next(sound cases.Case, seed, number uint64) (cases.Case, bool) {
	policies, _, err := tree.Values(cases.Case{Policies: sound.Policies})
	if err != nil || len(policies) == 0 || sound.ExpectError != "" || len(sound.Inbounds) == 0 {
		return sound, false
	}
	c := choice.New(rand.New(rand.NewPCG(number, seed^misspellingSeed)).IntN)
	// The places of the fields of the reasons. Each field is as frequent, be its list long or short.
	all, byField := tree.Places(policies), map[string][]int{}
	for i, p := range all {
		if field := strings.TrimPrefix(p.Field, "[]."); m.fields[field] {
			byField[field] = append(byField[field], i)
		}
	}
	fields := tree.Keys(byField)
	var found cases.Case
	var as misspelling
	for range mostMisspellings {
		at := c.Choose(len(all))
		if len(fields) > 0 && !c.OneIn(4) {
			at = choice.Pick(c, byField[choice.Pick(c, fields...)]...)
		}
		changed := tree.Clone(policies).([]any)
		form := misspell(c, tree.Places(changed)[at])
		out := sound
		out.Name = fmt.Sprintf("%s, misspelt", sound.Name)
		if out.Policies, err = parseValues("misspelt.yaml", changed...); err != nil {
			continue
		}
		why, refused := refusalOf(out)
		is := misspelling{why, form}
		if !refused || !m.reasons[why] || found.Name != "" && m.told[is] {
			continue
		}
		if found, as = out, is; !m.told[is] {
			break
		}
	}
	if found.Name == "" {
		return sound, false
	}
	// Whatever is not empty says that the policies must be refused.
	found.ExpectError = "misspelt"
	out, ok := FromCase(found, seed, number)
	if why, refused := refusalOf(out); !ok || !refused || why != as.refusal {
		return sound, false
	}
	m.told[as] = true
	return out, true
}

// misspellingSeed keeps the choices apart from those of [FromCase] and [BrokenSet].
const misspellingSeed = 0x3155

// The forms behind those of a text.
const (
	deleted = 100 + iota
	unknownField
	otherValue
)

// misspell changes what stands at a place, and returns the form that it has then.
func misspell(c *choice.Chooser, at tree.Place) (form int) {
	if at.Delete != nil && c.OneIn(8) {
		at.Delete()
		return deleted
	}
	switch v := at.Value.(type) {
	case string:
		forms := formsOf(v)
		if form = c.Choose(len(forms)); c.OneIn(3) {
			form = c.Choose(inOtherLetters)
		}
		at.Set(forms[form])
		return form
	case float64:
		at.Set(choice.Pick[any](c, 0, -1, 65536, v+0.5, fmt.Sprint(v), nil))
	case []any:
		at.Set(choice.Pick[any](c, []any{}, nil, append(v[:len(v):len(v)], nil)))
	case map[string]any:
		if len(v) > 0 && c.OneIn(2) {
			// A field that is not known has the value of one that is.
			key := choice.Pick(c, tree.Keys(v)...)
			v[choice.Pick(c, key+"s", strings.TrimSuffix(key, "s"), strings.ToLower(key))] = v[key]
			return unknownField
		}
		at.Set(choice.Pick[any](c, map[string]any{}, nil))
	default:
		at.Set(nil)
	}
	return otherValue
}

// inOtherLetters is how many of the forms of a text are first, and have other letters alone: a comparison that does not
// look at them is a usual mistake.
const inOtherLetters = 7

// formsOf returns a text in other forms: those that people and tools take for the same, and those that look like it.
func formsOf(text string) []string {
	scheme, rest := "", text
	if strings.HasPrefix(text, tree.SPIFFEScheme) {
		scheme, rest = tree.SPIFFEScheme, strings.TrimPrefix(text, tree.SPIFFEScheme)
	}
	first, path, isPath := strings.Cut(rest, "/")
	title := text[:min(1, len(text))]
	forms := []string{
		// Letters.
		strings.ToUpper(text), strings.ToLower(text), strings.ToUpper(title) + strings.ToLower(text[len(title):]), strings.ToLower(title) + text[len(title):],
		strings.ToUpper(title) + text[len(title):], scheme + strings.ToUpper(rest), scheme + strings.ToUpper(first) + rest[len(first):],
		// Spaces.
		" " + text, text + " ", text + "\n", scheme + " " + rest,
		// Ends.
		text + ".", text + "/", text + "/.", text + "/..", text + "*", text + "%41", text + "é", text + "_", text + "-", text + ":", text + "/33", text + "|" + text,
		text + strings.Repeat("a", 253),
		// Beginnings.
		"*" + text, "/" + text, "." + text, "-" + text, "+" + text, scheme + "." + rest, scheme + "*" + rest, scheme + "%41" + rest,
		// Nothing, or something else.
		"", scheme, "0",
	}
	if isPath {
		forms = append(forms, scheme+first+"//"+path, scheme+first+"/./"+path, scheme+first+"/../"+path, scheme+first, scheme+first+"/"+strings.ToUpper(path),
			scheme+first+"./"+path, scheme+first+":80/"+path, scheme+"*/"+path)
	}
	return forms
}
