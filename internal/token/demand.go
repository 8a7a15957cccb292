package token

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/claim"
)

// Demand is what an inbound demands of tokens. The zero value reads no token, so that no
// claim is known.
type Demand struct {
	// Issuers are those whose tokens are taken. A token of another issuer is refused.
	Issuers []Issuer
	// Required refuses a request without a token.
	Required bool
	// Preflight lets the preflight requests of CORS pass without a look at their tokens.
	Preflight bool
}

// Issuer is an issuer whose tokens an inbound takes.
type Issuer struct {
	// Name is the claim iss of its tokens; empty for any.
	Name string
	// Audiences are those of which a token must name one in the claim aud; empty for any.
	// Envoy leaves "http://" and "https://" in front, and one slash behind, out of account.
	Audiences []string
	// Places are where the inbound looks for its tokens; empty for [Usual].
	Places []Place
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

// Reads reports whether the inbound reads tokens at all.
func (d Demand) Reads() bool { return len(d.Issuers) > 0 }

// Equal reports whether two demands are the same.
func (d Demand) Equal(other Demand) bool {
	return d.Difference(other) == ""
}

// Difference says in which way another demand differs, and "" where it does not. The order of the
// issuers decides nothing.
func (d Demand) Difference(other Demand) string {
	if d.Required != other.Required {
		return "a request without a token is refused on one side only"
	}
	if d.Preflight != other.Preflight && d.Reads() && other.Reads() {
		return "a preflight request of CORS passes with any token on one side only"
	}
	for _, side := range [][2]Demand{{d, other}, {other, d}} {
		for _, a := range side[0].Issuers {
			differs := fmt.Sprintf("the tokens of %q are taken on one side only", a.Name)
			for _, b := range side[1].Issuers {
				if a.Name != b.Name {
					continue
				}
				if differs = a.difference(b); differs == "" {
					break
				}
			}
			if differs != "" {
				return differs
			}
		}
	}
	return ""
}

// Unforwarded returns the demand where no token is forwarded: who is taken for whom stays the same.
func (d Demand) Unforwarded() Demand {
	d.Issuers = slices.Clone(d.Issuers)
	for i := range d.Issuers {
		d.Issuers[i].Forward = false
	}
	return d
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
	case !sameSet(i.LooksAt(), other.LooksAt()):
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

// Add adds an issuer. Of two that differ in their audiences alone, one is enough.
func (d *Demand) Add(issuer Issuer) {
	alike := func(known Issuer) bool {
		known.Audiences, known.Forward = issuer.Audiences, issuer.Forward
		return known.difference(issuer) == "" && known.Name == issuer.Name
	}
	i := slices.IndexFunc(d.Issuers, alike)
	if i < 0 {
		d.Issuers = append(d.Issuers, issuer)
		return
	}
	known := &d.Issuers[i]
	if len(known.Audiences) == 0 || len(issuer.Audiences) == 0 {
		known.Audiences = nil
	} else {
		known.Audiences = slices.Concat(known.Audiences, issuer.Audiences)
	}
	known.Forward = known.Forward || issuer.Forward
}

// sameSet reports whether two lists have the same elements.
func sameSet[T comparable](a, b []T) bool {
	within := func(a, b []T) bool {
		return !slices.ContainsFunc(a, func(one T) bool { return !slices.Contains(b, one) })
	}
	return within(a, b) && within(b, a)
}

// finds reports whether the inbound looks where the token is.
func (d Demand) finds(t *Token) bool {
	at := d.place(t)
	return slices.ContainsFunc(d.Issuers, func(i Issuer) bool { found, _ := i.finds(at); return found })
}

// issuers returns the issuers that the inbound may take the token from: those of its name, and
// behind them those of any name.
func (d Demand) issuers(t *Token) (out []Issuer) {
	at := d.place(t)
	for _, name := range slices.Compact([]string{t.Issuer(), ""}) {
		for _, i := range d.Issuers {
			if _, whole := i.finds(at); whole && i.Name == name {
				out = append(out, i)
			}
		}
	}
	return out
}

// Refusal is why an inbound answers a request before any policy sees it, and with which
// status. The zero value is none.
type Refusal struct {
	Status int
	Why    string
}

// Refuses says what becomes of a request with a token, or without one (nil), by RFC 7519,
// section 7.2, as Envoy does it. A token at a place where the inbound does not look is none.
// Envoy reads no payload that has a name twice, and answers 403 where nothing but the
// audience is wrong.
func (d Demand) Refuses(t *Token) Refusal {
	_, refusal := d.judge(t)
	return refusal
}

// judge returns the issuer that the inbound takes the token from, and nil where it has no
// token or refuses it.
func (d Demand) judge(t *Token) (*Issuer, Refusal) {
	switch {
	case !d.Reads():
		return nil, Refusal{}
	case (t == nil || !d.finds(t)) && d.Required:
		return nil, Refusal{401, "the request has no token"}
	case t == nil || !d.finds(t):
		return nil, Refusal{}
	}
	if why := t.unreadable(); why != "" {
		return nil, Refusal{401, why}
	}
	refusal := Refusal{401, fmt.Sprintf("the inbound takes no token of the issuer %q there", t.Issuer())}
	for i, issuer := range d.issuers(t) {
		one := issuer.refuses(t)
		if one.Status == 0 {
			return &issuer, one
		}
		if i == 0 {
			refusal = one
		}
	}
	return nil, refusal
}

// refuses says why an inbound does not take the token for one of the issuer.
func (i Issuer) refuses(t *Token) Refusal {
	switch {
	case t.Fault == Expired:
		return Refusal{401, "the token is expired"}
	case t.Fault == NotYetValid:
		return Refusal{401, "the token is not yet valid"}
	case t.Fault == Unsigned:
		return Refusal{401, "the token is not signed"}
	case len(i.Audiences) > 0 && !slices.ContainsFunc(t.audiences(), i.takes):
		return Refusal{403, fmt.Sprintf("the token is for the audience %q", t.audiences())}
	case t.Fault == WrongSignature:
		return Refusal{401, "the signature is wrong"}
	case t.Fault == SignedByPublicKey:
		return Refusal{401, "the public key signs the token, and everybody has it"}
	case t.KeyID != "" && t.KeyID != t.algorithm():
		return Refusal{401, fmt.Sprintf("the issuer has no key %q for the algorithm %s", t.KeyID, t.algorithm())}
	case t.SignedBy != "" && t.SignedBy != i.Name:
		return Refusal{401, fmt.Sprintf("the key of %q signs a token of %q", t.SignedBy, t.Issuer())}
	}
	return Refusal{}
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

// unreadable returns why Envoy cannot read the payload. It holds the types of the claims of
// RFC 7519, section 4.1, against it.
func (t *Token) unreadable() string {
	for name := range t.Twice {
		if _, ok := t.Claims[name]; ok {
			return "the payload has the claim " + name + " twice"
		}
	}
	for name, value := range t.Claims {
		_, isText := value.(string)
		list, isList := value.([]any)
		ok := true
		switch name {
		case "iss", "sub", "jti":
			ok = isText
		case "aud":
			ok = isText || isList && len(textsOf(list)) == len(list)
		case "exp", "nbf", "iat":
			ok = isNumber(value)
		}
		if !ok {
			return "the claim " + name + " has a value of another type"
		}
	}
	return ""
}

func isNumber(value any) bool {
	switch value.(type) {
	case int, int64, uint64, float64:
		return true
	default:
		return false
	}
}

func (t *Token) audiences() []string {
	switch aud := t.Claims["aud"].(type) {
	case string:
		return []string{aud}
	case []any:
		return textsOf(aud)
	default:
		return nil
	}
}

// Seen returns the claims that the policies of the inbound see, as [Token.Values] does.
func (d Demand) Seen(t *Token) map[string][]string {
	issuer, _ := d.judge(t)
	if issuer == nil {
		return nil
	}
	seen := *t
	seen.Claims = issuer.Payload(t.Claims)
	return seen.Values()
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

// Complete returns the token with the claims that the inbound demands beside its own: an
// issuer and an audience. Without a token it returns one only where the inbound requires it.
func (d Demand) Complete(t *Token) *Token {
	switch {
	case !d.Reads():
		return t
	case t == nil && !d.Required:
		return nil
	case t == nil:
		t = &Token{}
	}
	var first, taken *Token
	for _, issuer := range d.Issuers {
		out := t.issuedBy(issuer)
		if first == nil {
			first = out
		}
		if d.Refuses(out) != (Refusal{}) {
			continue
		}
		if taken == nil {
			taken = out
		}
		if !slices.ContainsFunc(issuer.Spaced, func(name string) bool { text, _ := t.Claims[name].(string); return len(words(text)) > 0 }) {
			// The policies see every text of the token as it is.
			return out
		}
	}
	return cmp.Or(taken, first)
}

// Spaces returns the number of issuers of which the policies see the text of a claim as the
// list of its words.
func (d Demand) Spaces(claim string) (n int) {
	for _, i := range d.Issuers {
		if slices.Contains(i.Spaced, claim) {
			n++
		}
	}
	return n
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
