package token

import (
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Kind is a part of a request that can have a token.
type Kind uint8

// The parts of a request that can have a token.
const (
	InHeader Kind = iota
	InParameter
	InCookie
)

// Place is where a request has a token, as from_headers, from_params and from_cookies of
// envoy.extensions.filters.http.jwt_authn.v3.JwtProvider name it.
type Place struct {
	Kind Kind
	// Name is the name of the header in lower case, of the parameter of the query, or of the
	// cookie.
	Name string
	// Prefix stands in front of the token in a header.
	Prefix string
}

// Header is the place of a token by RFC 6750, section 2.1.
var Header = Place{Name: "authorization", Prefix: "Bearer "}

// usualPlaces are the places of an issuer without places: Envoy looks into a parameter too.
var usualPlaces = []Place{Header, {Kind: InParameter, Name: "access_token"}}

// LooksAt returns the places where an inbound looks for tokens of the issuer.
func (i Issuer) LooksAt() []Place {
	if len(i.Places) == 0 {
		return usualPlaces
	}
	return i.Places
}

// finds reports whether Envoy finds a token at a place by looking at another, and whether it
// finds the whole text of the token. In a header it takes the first word behind the prefix.
func (p Place) finds(at Place) (found, whole bool) {
	if p.Kind != at.Kind || p.Name != at.Name {
		return false, false
	}
	if p.Prefix == "" {
		// Envoy takes the whole line.
		return true, at.Prefix == ""
	}
	_, rest, found := strings.Cut(at.Prefix, p.Prefix)
	return found, found && !strings.ContainsFunc(rest, isTokenChar)
}

func isTokenChar(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}

// finds reports whether an inbound finds a token at a place, for tokens of the issuer, and
// whether it finds the whole text.
func (i Issuer) finds(at Place) (found, whole bool) {
	for _, p := range i.LooksAt() {
		ok, all := p.finds(at)
		found, whole = found || ok, whole || all
	}
	return found, whole
}

// place returns where a token is: where it says, or else where the inbound looks first for
// tokens of its issuer.
func (d Demand) place(t *Token) Place {
	if t.Place != (Place{}) {
		return t.Place
	}
	for _, issuer := range d.Issuers {
		if issuer.Name == t.Issuer() || issuer.Name == "" {
			return issuer.LooksAt()[0]
		}
	}
	if len(d.Issuers) > 0 {
		return d.Issuers[0].LooksAt()[0]
	}
	return Header
}

// put puts the text of a token into a request.
func (p Place) put(text, path string, headers []policy.Header) (string, []policy.Header) {
	switch p.Kind {
	case InParameter:
		if path == "" {
			path = "/"
		}
		between := "?"
		if strings.Contains(path, "?") {
			between = "&"
		}
		return path + between + p.Name + "=" + text, headers
	case InCookie:
		return path, append(slices.Clip(headers), policy.Header{Name: "cookie", Value: p.Name + "=" + text})
	default:
		return path, append(slices.Clip(headers), policy.Header{Name: p.Name, Value: p.Prefix + text})
	}
}

// textOf returns the text at the place of a request, and false where there is none.
func (p Place) textOf(path string, headers []policy.Header) (string, bool) {
	switch p.Kind {
	case InParameter:
		_, query, _ := strings.Cut(path, "?")
		for part := range strings.SplitSeq(query, "&") {
			if name, text, _ := strings.Cut(part, "="); name == p.Name {
				return text, true
			}
		}
	case InCookie:
		for _, h := range headers {
			for part := range strings.SplitSeq(h.Value, ";") {
				if name, text, ok := strings.Cut(strings.Trim(part, " "), "="); ok && name == p.Name && strings.EqualFold(h.Name, "cookie") {
					return strings.Trim(text, `"`), true
				}
			}
		}
	default:
		for _, h := range headers {
			switch _, rest, ok := strings.Cut(h.Value, p.Prefix); {
			case !ok || !strings.EqualFold(h.Name, p.Name):
			case p.Prefix == "":
				return h.Value, true
			default:
				return firstWord(rest), true
			}
		}
	}
	return "", false
}

// firstWord returns the first characters of a text that a token has, and the whole text where
// it has none of them.
func firstWord(text string) string {
	from := strings.IndexFunc(text, isTokenChar)
	if from < 0 {
		return text
	}
	text = text[from:]
	if end := strings.IndexFunc(text, func(r rune) bool { return !isTokenChar(r) }); end >= 0 {
		text = text[:end]
	}
	return text
}

// String names the place, as in "header x-token".
func (p Place) String() string {
	return [...]string{InHeader: "header ", InParameter: "parameter ", InCookie: "cookie "}[p.Kind] + p.Name
}
