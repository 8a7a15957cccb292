package proof

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// mostForgers is the number of classes of an inbound whose tokens are forged.
const mostForgers = 3

// forgeTokens adds requests that the policies would let in, with a token that the inbound must
// not take: it answers before a policy is asked.
func (p *Proof) forgeTokens(i int) {
	in := p.Inbounds[i]
	demand := in.Inbound.Program.Tokens
	if !demand.Reads() {
		return
	}
	forged := 0
	for _, c := range in.Cover.Classes {
		sound := in.Request(c.Witness)
		if forged == mostForgers || sound.Token == nil || verdict.Nameless(c.Witness) || in.Decide(c.Witness).Effect != policy.Allow {
			continue
		}
		forged++
		if q := sound; demand.Preflight && in.Protocol != policy.GRPC {
			q.Method, q.Headers = "OPTIONS", append(slices.Clip(q.Headers), policy.Header{Name: "origin", Value: "x"}, policy.Header{Name: "access-control-request-method", Value: "GET"})
			q.Want = verdict.Want(in.Expect(q))
			p.add(q, ask{inbound: i, class: classes.Unclassed, request: c.Witness})
		}
		for _, t := range forgeries(sound.Token) {
			if q := sound; demand.Refuses(t).Status != 0 {
				q.Token = t
				q.Want = verdict.Want(in.Expect(q))
				p.add(q, ask{inbound: i, class: classes.Unclassed, request: c.Witness})
			}
		}
	}
}

// forgeries are tokens that are almost as sound as the given one.
func forgeries(sound *token.Token) []*token.Token {
	var out []*token.Token
	for _, fault := range []token.Fault{token.Expired, token.NotYetValid, token.Unsigned, token.WrongSignature, token.SignedByPublicKey} {
		t := *sound
		t.Fault = fault
		out = append(out, &t)
	}
	changed := func(change func(*token.Token)) {
		t := *sound
		change(&t)
		out = append(out, &t)
	}
	changed(func(t *token.Token) { t.SignedBy = "https://other.example" })
	changed(func(t *token.Token) { t.KeyID = token.RS256 })
	changed(func(t *token.Token) { t.Algorithm, t.KeyID = token.RS256, token.ES256 })
	changed(func(t *token.Token) { t.Place = token.Place{Kind: token.InCookie, Name: "other"} })
	for _, claim := range [][2]string{{"iss", sound.Issuer() + ".evil"}, {"aud", "evil"}} {
		t := sound.WithoutClaim(claim[0])
		t.Claims[claim[0]] = claim[1]
		out = append(out, t)
		if claim[0] == "iss" {
			// The key is right: a filter that looks at the key alone takes it.
			signed := *t
			signed.SignedBy = sound.Issuer()
			out = append(out, &signed)
		}
	}
	return out
}

// drawClaims draws claims of a token that the inbound takes, near those that a program
// compares.
func drawClaims(demand token.Demand, values map[*policy.Attribute][]string, pick func([]string) string, random *rand.Rand) map[string][]string {
	var asked []*policy.Attribute
	for a := range values {
		if a.Family == "claim" {
			asked = append(asked, a)
		}
	}
	slices.SortFunc(asked, func(a, b *policy.Attribute) int { return strings.Compare(a.Name, b.Name) })
	drawn := map[string][]string{}
	for _, a := range asked {
		for range random.IntN(3) {
			if text := pick(values[a]); utf8.ValidString(text) && (a.Each != nil || drawn[a.Name] == nil) {
				drawn[a.Name] = append(drawn[a.Name], text)
			}
		}
	}
	return demand.Seen(demand.Complete(token.FromClaims(drawn)))
}
