package cases

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy/manifest"
)

// noToken is the name of no token, in a list of tokens.
const noToken = "none"

// tokenSchema is an entry under tokens.
type tokenSchema struct {
	Issuer         *string        `yaml:"issuer"`
	Subject        *string        `yaml:"subject"`
	Audience       oneOrMore      `yaml:"audience"`
	Claims         map[string]any `yaml:"claims"`
	Twice          map[string]any `yaml:"twice"`
	SignedBy       string         `yaml:"signedBy"`
	Expired        bool           `yaml:"expired"`
	NotYetValid    bool           `yaml:"notYetValid"`
	Unsigned       bool           `yaml:"unsigned"`
	WrongSignature bool           `yaml:"wrongSignature"`

	SignedByPublicKey bool         `yaml:"signedByPublicKey"`
	Algorithm         string       `yaml:"algorithm"`
	KeyID             string       `yaml:"keyID"`
	In                *placeSchema `yaml:"in"`
}

// placeSchema is where a request has a token.
type placeSchema struct {
	Header    string `yaml:"header"`
	Prefix    string `yaml:"prefix"`
	Parameter string `yaml:"parameter"`
	Cookie    string `yaml:"cookie"`
}

func (b *builder) addTokens() error {
	for _, name := range slices.Sorted(maps.Keys(b.schema.Tokens)) {
		doc := b.schema.Tokens[name]
		if name == noToken || name == "" {
			return doc.Errorf("", "the name %q means no token", name)
		}
		t, err := tokenOf(name, doc)
		if err != nil {
			return err
		}
		b.tokens[name] = t
	}
	return nil
}

func tokenOf(name string, doc manifest.Document) (*token.Token, error) {
	var s tokenSchema
	if err := doc.Decode(&s); err != nil {
		return nil, err
	}
	t := &token.Token{Name: name, Claims: map[string]any{}, Twice: s.Twice, SignedBy: s.SignedBy, Algorithm: s.Algorithm, KeyID: s.KeyID}
	maps.Copy(t.Claims, s.Claims)
	for _, own := range []struct {
		field, claim string
		value        any
		stated       bool
	}{{"issuer", "iss", deref(s.Issuer), s.Issuer != nil}, {"subject", "sub", deref(s.Subject), s.Subject != nil}, {"audience", "aud", audience(s.Audience), s.Audience != nil}} {
		switch _, twice := s.Claims[own.claim]; {
		case !own.stated:
		case twice:
			return nil, doc.Errorf(own.field, "the claim %s stands under claims too: leave one of them out, or write it under twice", own.claim)
		default:
			t.Claims[own.claim] = own.value
		}
	}
	for claim := range s.Twice {
		if _, ok := t.Claims[claim]; !ok {
			return nil, doc.Errorf("twice", "the token has no other claim %s, so that it stands there once", claim)
		}
	}
	for fault, has := range map[token.Fault]bool{
		token.Expired: s.Expired, token.NotYetValid: s.NotYetValid, token.Unsigned: s.Unsigned, token.WrongSignature: s.WrongSignature, token.SignedByPublicKey: s.SignedByPublicKey,
	} {
		switch {
		case !has:
		case t.Fault != token.Sound:
			return nil, doc.Errorf("", "a token has one fault: of expired, notYetValid, unsigned, wrongSignature and signedByPublicKey, keep one")
		default:
			t.Fault = fault
		}
	}
	switch t.Algorithm {
	case "", token.ES256, token.RS256:
	default:
		return nil, doc.Errorf("algorithm", "the lab signs by %s and %s, not by %q", token.ES256, token.RS256, t.Algorithm)
	}
	for _, name := range []string{"exp", "nbf"} {
		if _, stated := t.Claims[name].(string); t.Claims[name] != nil && !stated {
			return nil, doc.Errorf("claims", "%s is a time, which the lab writes: use expired or notYetValid", name)
		}
	}
	var err error
	t.Place, err = s.In.place(doc)
	return t, err
}

func (s *placeSchema) place(doc manifest.Document) (token.Place, error) {
	if s == nil {
		return token.Place{}, nil
	}
	var out []token.Place
	for kind, name := range map[token.Kind]string{token.InHeader: strings.ToLower(s.Header), token.InParameter: s.Parameter, token.InCookie: s.Cookie} {
		if name != "" {
			out = append(out, token.Place{Kind: kind, Name: name, Prefix: s.Prefix})
		}
	}
	switch {
	case len(out) != 1:
		return token.Place{}, doc.Errorf("in", "a token is in one place: name one of header, parameter and cookie")
	case out[0].Kind != token.InHeader && s.Prefix != "":
		return token.Place{}, doc.Errorf("in.prefix", "it stands in front of the token in a header only")
	case strings.ContainsAny(out[0].Name, " \t\r\n:;=&?#,"):
		return token.Place{}, doc.Errorf("in", "%q is no name of a header, a parameter or a cookie", out[0].Name)
	}
	return out[0], nil
}

func deref(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// audience is a text for one audience, and a list for several (RFC 7519, section 4.1.3).
func audience(names []string) any {
	if len(names) == 1 {
		return names[0]
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}

// checkTokens refuses names that no token has, and a second header for a token.
func (b *builder) checkTokens(field string, s requestSchema) error {
	if s.Token != nil && len(s.Token) == 0 {
		return b.doc.Errorf(field+".token", "the list is empty: leave it out, or nothing is sent")
	}
	for _, name := range s.Token {
		t, ok := b.tokens[name]
		if !ok {
			return b.doc.Errorf(field+".token", "there is no token %q: add it under tokens, or use one of %s", name, strings.Join(slices.Sorted(maps.Keys(b.tokens)), ", "))
		}
		// A token without a place may go out in the usual header.
		at := token.Header
		if t != nil && t.Place != (token.Place{}) {
			at = t.Place
		}
		for _, h := range s.Headers {
			if at.Kind == token.InHeader && strings.EqualFold(h.Name, at.Name) {
				return b.doc.Errorf(field+".headers", "the token goes out as the header %s: leave one of them out", h.Name)
			}
		}
		if at.Kind == token.InParameter && s.GRPC != "" {
			return b.doc.Errorf(field+".token", "a call of gRPC has no query for the token %s", name)
		}
	}
	return nil
}
