package token

import (
	"fmt"
	"maps"
	"slices"
)

// Demand is what an inbound demands of tokens. The zero value reads no token, so that no
// claim is known.
type Demand struct {
	// Issuers are those whose tokens are taken. A token of another issuer is refused.
	Issuers []Issuer
	// Required refuses a request without a token.
	Required bool
}

// Issuer is an issuer whose tokens an inbound takes.
type Issuer struct {
	// Name is the claim iss of its tokens; empty for any.
	Name string
	// Audiences are those of which a token must name one in the claim aud; empty for any.
	Audiences []string
	// Forward leaves the token in the request for the filters behind and the upstream.
	Forward bool
}

// Reads reports whether the inbound reads tokens at all.
func (d Demand) Reads() bool { return len(d.Issuers) > 0 }

// Equal reports whether two demands are the same.
func (d Demand) Equal(other Demand) bool {
	return d.Required == other.Required && slices.EqualFunc(d.Issuers, other.Issuers, func(a, b Issuer) bool {
		return a.Name == b.Name && a.Forward == b.Forward && slices.Equal(a.Audiences, b.Audiences)
	})
}

// of returns the issuer that the inbound takes a token from.
func (d Demand) of(name string) (Issuer, bool) {
	for _, want := range []string{name, ""} {
		if i := slices.IndexFunc(d.Issuers, func(i Issuer) bool { return i.Name == want }); i >= 0 {
			return d.Issuers[i], true
		}
	}
	return Issuer{}, false
}

// Refusal is why an inbound answers a request before any policy sees it, and with which
// status. The zero value is none.
type Refusal struct {
	Status int
	Why    string
}

// Refuses says what becomes of a request with a token, or without one (nil), by RFC 7519,
// section 7.2, as Envoy does it. Envoy reads no payload that has a name twice, and answers
// 403 where nothing but the audience is wrong.
func (d Demand) Refuses(t *Token) Refusal {
	switch {
	case !d.Reads():
		return Refusal{}
	case t == nil && d.Required:
		return Refusal{401, "the request has no token"}
	case t == nil:
		return Refusal{}
	}
	if why := t.unreadable(); why != "" {
		return Refusal{401, why}
	}
	issuer, ok := d.of(t.Issuer())
	switch {
	case !ok:
		return Refusal{401, fmt.Sprintf("the inbound takes no token of the issuer %q", t.Issuer())}
	case t.Fault == Expired:
		return Refusal{401, "the token is expired"}
	case t.Fault == NotYetValid:
		return Refusal{401, "the token is not yet valid"}
	case t.Fault == Unsigned:
		return Refusal{401, "the token is not signed"}
	case len(issuer.Audiences) > 0 && !slices.ContainsFunc(t.audiences(), func(aud string) bool { return slices.Contains(issuer.Audiences, aud) }):
		return Refusal{403, fmt.Sprintf("the token is for the audience %q", t.audiences())}
	case t.Fault == WrongSignature:
		return Refusal{401, "the signature is wrong"}
	case t.SignedBy != "" && t.SignedBy != issuer.Name:
		return Refusal{401, fmt.Sprintf("the key of %q signs a token of %q", t.SignedBy, t.Issuer())}
	}
	return Refusal{}
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
	if t == nil || !d.Reads() || d.Refuses(t) != (Refusal{}) {
		return nil
	}
	return t.Values()
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
	var first *Token
	for _, issuer := range d.Issuers {
		out := t.from(issuer)
		if d.Refuses(out) == (Refusal{}) {
			return out
		}
		if first == nil {
			first = out
		}
	}
	return first
}

// from returns the token with the name of an issuer and one of its audiences, where it has
// none.
func (t *Token) from(issuer Issuer) *Token {
	out := *t
	out.Claims = map[string]any{}
	maps.Copy(out.Claims, t.Claims)
	if out.Claims["iss"] == nil && issuer.Name != "" {
		out.Claims["iss"] = issuer.Name
	}
	if out.Claims["aud"] == nil && len(issuer.Audiences) > 0 {
		out.Claims["aud"] = issuer.Audiences[0]
	}
	return &out
}
