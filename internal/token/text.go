package token

import (
	"encoding/json"
	"fmt"
	"maps"
)

// faultTexts are the faults in words.
var faultTexts = [...]string{Expired: "expired", NotYetValid: "not yet valid", Unsigned: "unsigned", WrongSignature: "with a wrong signature", SignedByPublicKey: "signed by the public key"}

// Payload returns the claims without the times, and nil for no token.
func (t *Token) Payload() map[string]any {
	if t == nil {
		return nil
	}
	return t.Claims
}

// WithoutClaim returns the token without a claim.
func (t *Token) WithoutClaim(name string) *Token {
	out := *t
	out.Claims = maps.Clone(t.Claims)
	delete(out.Claims, name)
	return &out
}

// Text returns the claims as JSON, and what is wrong with the token. It is empty for none.
func Text(t *Token) string {
	if t == nil {
		return ""
	}
	claims, err := json.Marshal(t.Claims)
	if err != nil {
		return t.Name
	}
	out := string(claims)
	if len(t.Twice) > 0 {
		if twice, err := json.Marshal(t.Twice); err == nil {
			out += " and " + string(twice)
		}
	}
	if t.Fault != Sound {
		out += ", " + faultTexts[t.Fault]
	}
	if t.SignedBy != "" {
		out += ", signed by " + t.SignedBy
	}
	if t.Algorithm != "" {
		out += ", by " + t.Algorithm
	}
	if t.KeyID != "" {
		out += ", with the key " + t.KeyID
	}
	if t.Place != (Place{}) {
		out += ", in the " + t.Place.String()
		if t.Place.Prefix != "" {
			out += fmt.Sprintf(" behind %q", t.Place.Prefix)
		}
	}
	return out
}

// Clause returns " with token CLAIMS" for texts about a request, and "" for no token.
func Clause(t *Token) string { return WithText(Text(t)) }

// WithText is [With] for the text of a token.
func WithText(text string) string {
	if text == "" {
		return ""
	}
	return " with token " + text
}
