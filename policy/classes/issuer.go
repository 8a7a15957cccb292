package classes

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/automaton"
	"github.com/meshproof/meshproof/internal/claim"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// claimsCanBeSent reports whether a token that the inbound takes has the claims of a request.
// A claim is not there in two forms, and what the inbound demands beside the claims must not
// change what the programs ask for.
func (c *Cover) claimsCanBeSent(r *policy.Request) bool {
	if !c.table.asksClaims() {
		return true
	}
	t, demand := c.demand.Complete(token.FromClaims(r.Others)), c.demand.ForRequest(r.Method, r.Headers)
	if demand.Refuses(t) != (token.Refusal{}) {
		return false
	}
	seen := demand.Seen(t)
	for _, of := range c.table.rows {
		if a := of[0].attribute; a.Family == "claim" && !slices.Equal(seen[a.Name], r.Others[a.Name]) {
			return false
		}
	}
	return true
}

// asksForIssuer reports whether a program asks for a claim on which the issuer depends, which
// no tree tells: the audience where the inbound demands one, and a text that the policies see
// as a list with some issuers.
func (c *Cover) asksForIssuer() bool {
	return slices.ContainsFunc(c.table.rows, func(of []*row) bool {
		a := of[0].attribute
		if a.Family != "claim" {
			return false
		}
		path, _ := claim.Path(a.Key)
		spaces := c.demand.Spaces(path[0])
		return spaces > 0 && spaces < len(c.demand.Issuers) ||
			a.Key == "aud" && slices.ContainsFunc(c.demand.Issuers, func(i token.Issuer) bool { return len(i.Audiences) > 0 })
	})
}

func (t *table) asksClaims() bool {
	return slices.ContainsFunc(t.rows, func(of []*row) bool { return of[0].attribute.Family == "claim" })
}

// repairClaims gives a request the claims that the inbound demands of a token, or takes
// claims away that are not asked for.
func (s *solving) repairClaims() automaton.Answer {
	before := s.request
	try := func(change func(*policy.Request)) automaton.Answer {
		s.request = before
		if change(&s.request); !s.cover.claimsCanBeSent(&s.request) {
			return automaton.Empty
		}
		for d, of := range s.cover.table.rows {
			if of[0].attribute.Family == "claim" && !s.values.fits(s.literals[d], &s.request) {
				return automaton.Empty
			}
		}
		return s.run()
	}
	without := func(r *policy.Request) {
		asked := map[string]bool{}
		for d, of := range s.cover.table.rows {
			asked[of[0].attribute.Name] = len(s.literals[d].present) > 0
		}
		r.Others = maps.Clone(r.Others)
		maps.DeleteFunc(r.Others, func(name string, _ []string) bool { return strings.HasPrefix(name, "claim ") && !asked[name] })
	}
	changes := []func(*policy.Request){without}
	for _, issuer := range s.cover.demand.Issuers {
		audiences := issuer.Takes()
		for _, audience := range append(audiences, "")[:max(1, len(audiences))] {
			for _, key := range []string{"claim aud", "claim aud[]"} {
				issue := func(r *policy.Request) { giveIssuer(r, issuer.Name, key, audience) }
				changes = append(changes, issue, func(r *policy.Request) { without(r); issue(r) })
			}
		}
	}
	answer := automaton.Empty
	for _, change := range changes {
		switch try(change) {
		case automaton.Found:
			return automaton.Found
		case automaton.Limited:
			answer = automaton.Limited
		}
	}
	s.request = before
	return answer
}

// giveIssuer gives a request an issuer, and an audience as a text or as one of a list.
func giveIssuer(r *policy.Request, issuer, key, audience string) {
	r.Others = maps.Clone(r.Others)
	if r.Others == nil {
		r.Others = map[string][]string{}
	}
	if issuer != "" {
		r.Others["claim iss"] = []string{issuer}
	}
	switch has := r.Others[key]; {
	case audience == "" || slices.Contains(has, audience):
	case key == "claim aud":
		r.Others[key] = []string{audience}
		delete(r.Others, "claim aud[]")
	default:
		r.Others[key] = append(slices.Clip(has), audience)
		delete(r.Others, "claim aud")
	}
}
