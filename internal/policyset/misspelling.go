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

// Refusals are the reasons for which written cases say that policies must be refused.
type Refusals map[Refusal]bool

// Refusal is one of them: the profile, the field without its places in lists, and what is wrong, without what stands there.
type Refusal struct {
	profile       feature.Profile
	field, reason string
}

// RefusalsOf reads the reasons of cases that must be refused.
func RefusalsOf(refused []cases.Case) Refusals {
	out := Refusals{}
	for _, c := range refused {
		if r, ok := refusalOf(c); ok {
			out[r] = true
		}
	}
	return out
}

// refusalOf returns why the policies of a case are refused. It returns false where they are not, or where the error is
// about no field.
func refusalOf(c cases.Case) (Refusal, bool) {
	_, err := verdict.Read(c)
	wrong := new(manifest.Error)
	if !errors.As(err, &wrong) || len(c.Policies) == 0 {
		return Refusal{}, false
	}
	return Refusal{
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

// mostMisspellings bounds how many misspellings of a sound case are read. Most of them are sound too, or wrong in a way
// that no case has.
const mostMisspellings = 40

// Misspell makes a case that must be refused from a sound one, whose policies have one value in another form: in capitals,
// with a dot or a slash more, empty, or missing. It must be refused for one of the reasons, if possible for one that
// is not told yet; told gets it. So a compiler that knows the refused policies of the cases, and not the rule behind them,
// is told. The result is false where no such form was found.
func (r Refusals) Misspell(sound cases.Case, told map[Refusal]bool, seed, number uint64) (cases.Case, bool) {
	policies, _, err := tree.Values(cases.Case{Policies: sound.Policies})
	if err != nil || len(policies) == 0 || sound.ExpectError != "" || len(sound.Inbounds) == 0 {
		return sound, false
	}
	c := choice.New(rand.New(rand.NewPCG(number, seed^misspellingSeed)).IntN)
	var found cases.Case
	var why Refusal
	places := len(tree.Places(policies))
	for range mostMisspellings {
		changed := tree.Clone(policies).([]any)
		misspell(c, tree.Places(changed)[c.Choose(places)])
		out := sound
		out.Name = fmt.Sprintf("%s, misspelt", sound.Name)
		if out.Policies, err = parseValues("misspelt.yaml", changed...); err != nil {
			continue
		}
		refusal, refused := refusalOf(out)
		if !refused || !r[refusal] || found.Name != "" && told[refusal] {
			continue
		}
		found, why = out, refusal
		if !told[why] {
			break
		}
	}
	if found.Name == "" {
		return sound, false
	}
	// Whatever is not empty says that the policies must be refused.
	found.ExpectError = "misspelt"
	out, ok := FromCase(found, seed, number)
	if refusal, refused := refusalOf(out); !ok || !refused || refusal != why {
		return sound, false
	}
	told[why] = true
	return out, true
}

// misspellingSeed keeps the choices apart from those of [FromCase] and [BrokenSet].
const misspellingSeed = 0x3155

// misspell changes what stands at a place.
func misspell(c *choice.Chooser, at tree.Place) {
	if at.Delete != nil && c.OneIn(8) {
		at.Delete()
		return
	}
	switch v := at.Value.(type) {
	case string:
		at.Set(misspelt(c, v))
	case float64:
		at.Set(choice.Pick[any](c, 0, -1, 65536, v+0.5, fmt.Sprint(v), nil))
	case []any:
		at.Set(choice.Pick[any](c, []any{}, nil, append(v[:len(v):len(v)], nil)))
	case map[string]any:
		if len(v) > 0 && c.OneIn(2) {
			// A field that is not known has the value of one that is.
			key := choice.Pick(c, tree.Keys(v)...)
			v[choice.Pick(c, key+"s", strings.TrimSuffix(key, "s"), strings.ToLower(key))] = v[key]
			return
		}
		at.Set(choice.Pick[any](c, map[string]any{}, nil))
	default:
		at.Set(nil)
	}
}

// misspelt returns a text in another form.
func misspelt(c *choice.Chooser, text string) string {
	scheme, rest := "", text
	if strings.HasPrefix(text, tree.SPIFFEScheme) {
		scheme, rest = tree.SPIFFEScheme, strings.TrimPrefix(text, tree.SPIFFEScheme)
	}
	first, path, isPath := strings.Cut(rest, "/")
	forms := []string{
		"", scheme, scheme + strings.ToUpper(rest), strings.ToUpper(text), strings.ToLower(text), scheme + strings.ToUpper(first) + text[len(scheme)+len(first):],
		text + ".", text + "/", text + "/.", text + "/..", text + "*", text + " ", text + "%41", text + "é", text + "_", text + "/33", text + ":0", text + "-",
		"*" + text, " " + text, "/" + text, "." + text, "-" + text, scheme + "." + rest, scheme + "*" + rest, scheme + "%41" + rest, scheme + "*/" + path, "0", text + text, text + strings.Repeat("a", 253),
	}
	if isPath {
		forms = append(forms, scheme+first+"//"+path, scheme+first+"/./"+path, scheme+first+"/../"+path, scheme+first, scheme+first+"/"+strings.ToUpper(path), scheme+first+"./"+path)
	}
	return choice.Pick(c, forms...)
}
