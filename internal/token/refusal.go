package token

import (
	"fmt"
	"slices"
)

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
