package token

import (
	"cmp"
	"fmt"
	"slices"
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

// Unforwarded returns the same demand without the forwarding of tokens: each caller has the same identity under both.
func (d Demand) Unforwarded() Demand {
	d.Issuers = slices.Clone(d.Issuers)
	for i := range d.Issuers {
		d.Issuers[i].Forward = false
	}
	return d
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
