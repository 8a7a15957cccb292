// Package token has the tokens of callers (JSON Web Tokens, RFC 7519), and what an inbound
// demands of them.
//
// [Demand.Refuses] says which token Envoy's filter envoy.filters.http.jwt_authn refuses, and
// [Demand.Send] makes a token with the keys of the lab, sound or with one fault. The package
// guarantees that a token with a fault is like the sound one in all else. Each issuer has a
// key of its own, which lives as long as the process. The package knows no Envoy message
// and no policy.
package token

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/claim"
)

// Token is a token as a caller sends it.
type Token struct {
	// Name is the token as a case file names it.
	Name string
	// Claims is the payload. [Demand.Send] adds the times.
	Claims map[string]any
	// Twice are claims that stand in the payload a second time, behind the others.
	Twice map[string]any
	Fault Fault
	// SignedBy is the issuer whose key signs; empty for the issuer of the payload.
	SignedBy string
	// Algorithm is the one that signs, [ES256] or [RS256]; empty for ES256. KeyID names the
	// key in the header of the token; empty for none. A key has the name of its algorithm.
	Algorithm, KeyID string
	// Place is where the request has the token; the zero value for where the inbound looks first.
	Place Place
}

// Fault is what is wrong with a token.
type Fault uint8

// The faults of a token. A token of another issuer's key has [Token.SignedBy].
const (
	Sound Fault = iota
	Expired
	NotYetValid
	// Unsigned has the algorithm "none" (RFC 7519, section 6).
	Unsigned
	// WrongSignature has one bit of its signature changed.
	WrongSignature
	// SignedByPublicKey has the algorithm HS256, with the public key of the issuer as secret.
	SignedByPublicKey
)

// The algorithms of the lab (RFC 7518, section 3.1).
const (
	ES256 = "ES256"
	RS256 = "RS256"
)

func (t *Token) algorithm() string { return cmp.Or(t.Algorithm, ES256) }

// Issuer returns the claim iss, and "" for a token without one.
func (t *Token) Issuer() string {
	name, _ := t.Claims["iss"].(string)
	return name
}

// Values returns the claims by the names of their attributes: "claim sub" has a text,
// "claim groups[]" the texts of a list, "claim level#" a number, true, false or null, and "claim
// levels[#]" those of a list. "claim realm?" is "{}" for an object, and "[]" for a list of nothing
// that has a name.
func (t *Token) Values() map[string][]string {
	out := map[string][]string{}
	addValues(out, nil, t.Claims)
	return out
}

func addValues(out map[string][]string, path []string, claims map[string]any) {
	for name, value := range claims {
		path := append(slices.Clone(path), name)
		switch value := value.(type) {
		case string:
			out[attributeName(path...)] = []string{value}
		case map[string]any:
			out[attributeName(append(path, claim.Any)...)] = []string{Object}
			addValues(out, path, value)
		case []any:
			texts, scalars := textsOf(value), scalarsOf(value)
			if len(texts) > 0 {
				out[attributeName(append(path, claim.List)...)] = texts
			}
			if len(scalars) > 0 {
				out[attributeName(append(path, claim.ScalarList)...)] = scalars
			}
			if len(texts)+len(scalars) == 0 {
				out[attributeName(append(path, claim.Any)...)] = []string{EmptyList}
			}
		default:
			if text := scalarOf(value); text != "" {
				out[attributeName(append(path, claim.Scalar)...)] = []string{text}
			}
		}
	}
}

// ScalarText returns the one text of a number of JSON, of true, false or null. It is empty for any
// other text.
func ScalarText(text string) string {
	switch text {
	case "true", "false", "null":
		return text
	}
	var number float64
	if json.Unmarshal([]byte(text), &number) != nil {
		return ""
	}
	return claim.NumberText(number)
}

// The values of a claim of the form [claim.Any].
const (
	Object    = "{}"
	EmptyList = "[]"
)

// scalarOf returns the text of a number, true, false or null, and "" for another value.
func scalarOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return ScalarText(string(text))
}

func scalarsOf(list []any) (out []string) {
	for _, value := range list {
		if text := scalarOf(value); text != "" {
			out = append(out, text)
		}
	}
	return out
}

const family = "claim "

func attributeName(path ...string) string { return family + claim.Key(path...) }

func textsOf(list []any) (out []string) {
	for _, value := range list {
		if text, ok := value.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// FromClaims returns a sound token with claims by the names of their attributes, and nil where there
// are none.
func FromClaims(values map[string][]string) *Token {
	claims := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		key, ok := cutFamily(name)
		if !ok {
			continue
		}
		path, form := claim.Path(key)
		if len(path) == 0 {
			continue
		}
		for _, value := range valuesOf(values[name], form) {
			put(claims, path, value, form)
		}
	}
	if len(claims) == 0 {
		return nil
	}
	return &Token{Claims: claims}
}

func cutFamily(name string) (key string, ok bool) {
	if len(name) <= len(family) || name[:len(family)] != family {
		return "", false
	}
	return name[len(family):], true
}

// valuesOf returns the values of a claim that has texts in a form. What the form has no text for is
// left out.
func valuesOf(texts []string, form string) (out []any) {
	for _, text := range texts {
		var value any = text
		switch {
		case form == claim.Scalar || form == claim.ScalarList:
			if ScalarText(text) == "" || json.Unmarshal([]byte(text), &value) != nil {
				continue
			}
		case form == claim.Any && text == Object:
			value = map[string]any{}
		case form == claim.Any && text == EmptyList:
			value = []any{}
		case form == claim.Any:
			continue
		}
		out = append(out, value)
		if form != claim.List && form != claim.ScalarList {
			break
		}
	}
	return out
}

// put adds a value to the list at a path, or sets it. An object or an empty list changes nothing
// where there is something.
func put(claims map[string]any, path []string, value any, form string) {
	for _, name := range path[:len(path)-1] {
		below, ok := claims[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			claims[name] = below
		}
		claims = below
	}
	name := path[len(path)-1]
	before, there := claims[name]
	switch list, _ := before.([]any); {
	case form == claim.List || form == claim.ScalarList:
		claims[name] = append(list, value)
	case form != claim.Any || !there:
		claims[name] = value
	}
}
