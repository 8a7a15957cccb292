package token

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/claim"
)

// Issuer is an issuer whose tokens an inbound takes.
type Issuer struct {
	// Name is the claim iss of its tokens; empty for any.
	Name string
	// Audiences are those of which a token must name one in the claim aud; empty for any.
	// Envoy leaves "http://" and "https://" in front, and one slash behind, out of account.
	Audiences []string
	// Places are where the inbound looks for its tokens; empty for [usualPlaces].
	Places []Place
	// Unfilled are further places that no caller of the protocol fills. A filter has them or not: it takes the same tokens.
	Unfilled []Place
	// Spaced are claims whose text the policies see as the list of its words.
	Spaced []string
	// Forward leaves the token in the request for the filters behind and the upstream.
	Forward bool
	// Writes are the headers in which claims are passed on. No policy may ask for one, so that the lab
	// writes none.
	Writes []Written
	// Keys says which keys sign its tokens, see [KeysAt] and [KeysOf]; empty where that is not
	// stated. The lab signs by keys of its own.
	Keys string
}

// Written is a header in which a claim is passed on.
type Written struct {
	// Header is in lower case. Claim is empty for the whole payload.
	Header, Claim string
}

// String returns the header, and the claim in it.
func (w Written) String() string { return w.Header + "=" + cmp.Or(w.Claim, "payload") }

func (i Issuer) difference(other Issuer) string {
	switch {
	case !sameSet(i.Audiences, other.Audiences):
		return fmt.Sprintf("the audiences of %q are %q and %q", i.Name, i.Audiences, other.Audiences)
	case !sameSet(i.LooksAt(), other.LooksAt()) && !sameSet(slices.Concat(i.LooksAt(), i.Unfilled), slices.Concat(other.LooksAt(), other.Unfilled)):
		return fmt.Sprintf("the tokens of %q are in %s and in %s", i.Name, i.LooksAt(), other.LooksAt())
	case !sameSet(i.Spaced, other.Spaced):
		return fmt.Sprintf("the claims of %q that are parted at spaces are %q and %q", i.Name, i.Spaced, other.Spaced)
	case !sameSet(i.Writes, other.Writes):
		return fmt.Sprintf("the claims of %q are written into the headers %q and %q", i.Name, i.Writes, other.Writes)
	case i.Forward != other.Forward:
		return fmt.Sprintf("the tokens of %q are forwarded on one side only", i.Name)
	case i.Keys != other.Keys:
		return fmt.Sprintf("the keys of %q are %s and %s", i.Name, cmp.Or(i.Keys, "not stated"), cmp.Or(other.Keys, "not stated"))
	}
	return ""
}

// sameSet reports whether two lists have the same elements.
func sameSet[T comparable](a, b []T) bool {
	within := func(a, b []T) bool {
		return !slices.ContainsFunc(a, func(one T) bool { return !slices.Contains(b, one) })
	}
	return within(a, b) && within(b, a)
}

// takes reports whether an audience of a token is one of the issuer's, as Envoy compares them.
func (i Issuer) takes(audience string) bool {
	return slices.ContainsFunc(i.Audiences, func(own string) bool { return comparedAudience(own) == comparedAudience(audience) })
}

// comparedAudience returns what Envoy compares of an audience.
func comparedAudience(audience string) string {
	text := audience
	for _, scheme := range []string{"http://", "https://"} {
		if rest, ok := strings.CutPrefix(audience, scheme); ok {
			text = rest
		}
	}
	return strings.TrimSuffix(text, "/")
}

// Takes returns all audiences of tokens that the inbound takes for the issuer's, first those
// that the issuer names; nil for any.
func (i Issuer) Takes() []string {
	out := slices.Clone(i.Audiences)
	for _, own := range i.Audiences {
		for _, scheme := range []string{"", "http://", "https://"} {
			for _, end := range []string{"", "/"} {
				if text := scheme + comparedAudience(own) + end; i.takes(text) && !slices.Contains(out, text) {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// Payload returns the claims of a token as Envoy writes them for the policies: with lists in
// the place of texts that it parts at their spaces.
func (i Issuer) Payload(claims map[string]any) map[string]any {
	out := maps.Clone(claims)
	for _, name := range i.Spaced {
		if text, _ := claims[name].(string); len(words(text)) > 0 {
			out[name] = valuesOf(words(text), claim.List)
		}
	}
	return out
}

// issuedBy returns the token with the name of an issuer and one of its audiences, where it has
// none.
func (t *Token) issuedBy(issuer Issuer) *Token {
	out := *t
	out.Claims = map[string]any{}
	maps.Copy(out.Claims, t.Claims)
	if out.Claims["iss"] == nil && issuer.Name != "" {
		out.Claims["iss"] = issuer.Name
	}
	if out.Claims["aud"] == nil && len(issuer.Audiences) > 0 {
		out.Claims["aud"] = issuer.Audiences[0]
	}
	for _, name := range issuer.Spaced {
		// Issuers write such a list as one text.
		if list, ok := out.Claims[name].([]any); ok && len(list) > 0 && !slices.ContainsFunc(list, isNoWord) {
			out.Claims[name] = strings.Join(textsOf(list), " ")
		}
	}
	return &out
}

// words returns what stands between the spaces of a text.
func words(text string) []string {
	return slices.DeleteFunc(strings.Split(text, " "), func(word string) bool { return word == "" })
}

// isNoWord reports whether a value of a list cannot be a word of a text.
func isNoWord(value any) bool {
	text, ok := value.(string)
	return !ok || text == "" || strings.Contains(text, " ")
}
