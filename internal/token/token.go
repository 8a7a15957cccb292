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
	"strconv"

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
	// At is where the request has the token; the zero value for where the inbound looks first.
	At Place
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
// "claim groups[]" the texts of a list, and "claim level#" a number, true, false or null. Other
// claims are not there.
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
			addValues(out, path, value)
		case []any:
			if texts := textsOf(value); len(texts) > 0 {
				out[attributeName(append(path, claim.List)...)] = texts
			}
		default:
			if text, err := json.Marshal(value); err == nil && ScalarText(string(text)) != "" {
				out[attributeName(append(path, claim.Scalar)...)] = []string{ScalarText(string(text))}
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
	if number == 0 {
		return "0" // without a sign
	}
	return strconv.FormatFloat(number, 'f', -1, 64)
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

// Of returns a sound token with claims by the names of their attributes, and nil where there
// are none.
func Of(values map[string][]string) *Token {
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
		var value any = values[name][0]
		switch form {
		case claim.List:
			value = listOf(values[name])
		case claim.Scalar:
			if json.Unmarshal([]byte(values[name][0]), &value) != nil {
				continue
			}
		}
		put(claims, path, value)
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

func listOf(texts []string) []any {
	out := make([]any, len(texts))
	for i, text := range texts {
		out[i] = text
	}
	return out
}

func put(claims map[string]any, path []string, value any) {
	for _, name := range path[:len(path)-1] {
		below, ok := claims[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			claims[name] = below
		}
		claims = below
	}
	claims[path[len(path)-1]] = value
}
