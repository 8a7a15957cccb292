package classes_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// demands are what inbounds of the test demand of tokens.
var demands = map[string]*token.Demand{
	"any token":       nil,
	"no token":        {},
	"one issuer":      {Issuers: []token.Issuer{{Name: "a"}}},
	"two issuers":     {Issuers: []token.Issuer{{Name: "a"}, {Name: "ab"}}},
	"a token":         {Issuers: []token.Issuer{{Name: "a"}}, Required: true},
	"audiences":       {Issuers: []token.Issuer{{Name: "a", Audiences: []string{"a", "b"}}}},
	"some audiences":  {Issuers: []token.Issuer{{Name: "a", Audiences: []string{"ab"}}, {Name: "b"}}},
	"words":           {Issuers: []token.Issuer{{Name: "a", Spaced: []string{"g"}}}},
	"some words":      {Issuers: []token.Issuer{{Name: "a", Spaced: []string{"g"}}, {Name: "b", Audiences: []string{"c"}}}},
	"web addresses":   {Issuers: []token.Issuer{{Name: "a", Audiences: []string{"https://a"}}}},
	"any, audiences":  {Issuers: []token.Issuer{{Audiences: []string{"a"}}}},
	"other audiences": {Issuers: []token.Issuer{{Name: "a", Audiences: []string{"a"}}, {Name: "b", Audiences: []string{"b"}}}, Required: true},
}

// askedClaims are the claims of the test, with their values. A claim is a text, a list, or
// an object.
var askedClaims = []*policy.Attribute{
	attribute.Claim("iss"), attribute.Claim("sub"), attribute.Claim("sub", "[]"), attribute.Claim("aud"), attribute.Claim("aud", "[]"),
	attribute.Claim("g"), attribute.Claim("g", "[]"), attribute.Claim("g", "h"), attribute.Claim("g", "#"), attribute.Claim("g", "h", "#"),
	attribute.Claim("g", "[#]"), attribute.Claim("g", "?"), attribute.Claim("g", "h", "?"), attribute.Claim("aud", "?"), attribute.Claim("sub", "?"),
}

// someTokens are tokens of all combinations of some values, sound or not.
func someTokens() []*token.Token {
	out := []*token.Token{nil}
	texts := []any{nil, "a", "ab", "b", ""}
	for _, iss := range []any{nil, "a", "ab", "b"} {
		for _, sub := range texts {
			for _, aud := range []any{nil, "a", "ab", "c", "http://a/", []any{"a"}, []any{"b", "a"}, []any{"ba"}, []any{"b", "a/"}} {
				for _, g := range []any{nil, "", "a", "ab", "ba", []any{}, []any{"a"}, []any{"b", "a"}, "b a", []any{"ab", "ba"}, []any{"", "b"}, map[string]any{"h": "a"}, map[string]any{"h": "b"}, 7, true, map[string]any{"h": 7}, map[string]any{"h": nil}, map[string]any{}, 7.5, -1, []any{7}, []any{"a", 8, nil}, []any{map[string]any{}}, []any{[]any{"a"}}, map[string]any{"h": []any{}}, map[string]any{"i": 1}} {
					claims := map[string]any{"iss": iss, "sub": sub, "aud": aud, "g": g}
					for name, value := range claims {
						if value == nil {
							delete(claims, name)
						}
					}
					out = append(out, &token.Token{Claims: claims})
				}
			}
		}
	}
	return out
}

func claimCondition(depth int) *rapid.Generator[policy.Condition] {
	return rapid.Custom(func(t *rapid.T) policy.Condition {
		if depth > 0 && rapid.IntRange(0, 2).Draw(t, "list") > 0 {
			of := rapid.SliceOfN(claimCondition(depth-1), 2, 3).Draw(t, "of")
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				return policy.And(of)
			case 1:
				return policy.Or(of)
			default:
				return policy.Not{Condition: of[0]}
			}
		}
		is := policy.Is{Attribute: rapid.SampledFrom(askedClaims).Draw(t, "claim")}
		switch is.Attribute.Kinds[len(is.Attribute.Kinds)-1] {
		case policy.Present:
			is.Match.Kind = policy.Present
			return is
		case policy.Range:
			if is.Match.Kind = rapid.SampledFrom(is.Attribute.Kinds).Draw(t, "match"); is.Match.Kind == policy.Range {
				is.Match.Value = rapid.SampledFrom([]string{"[7,8)", "[7.5,inf)", "[-inf,0)", "[-1,8)", "[-inf,inf)", "[8,7)"}).Draw(t, "range")
			} else {
				is.Match.Value = rapid.SampledFrom([]string{"7", "true", "null", "07", "a"}).Draw(t, "scalar")
			}
			return is
		}
		switch is.Match.Kind = rapid.SampledFrom([]policy.MatchKind{policy.Exact, policy.Exact, policy.Prefix, policy.Suffix, policy.Contains, policy.Regex}).Draw(t, "match"); is.Match.Kind {
		case policy.Exact:
			is.Match.Value = rapid.SampledFrom([]string{"a", "b", "ab", "", "a/"}).Draw(t, "value")
		case policy.Regex:
			is.Match.Value = rapid.SampledFrom([]string{"a*", "[ab]b", ".+", "(a|b).*"}).Draw(t, "value")
		default:
			is.Match.Value = rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(t, "value")
		}
		return is
	})
}

// TestClaims holds covers against all tokens of some values: each that the inbound takes is
// in a class, and decided as its witness, and an inbound takes each witness.
func TestClaims(t *testing.T) {
	t.Parallel()
	tokens := someTokens()
	property.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(slices.Sorted(func(yield func(string) bool) {
			for name := range demands {
				if !yield(name) {
					return
				}
			}
		})).Draw(t, "demand")
		on := classes.Surface{Tokens: demands[name]}
		demand := token.Demand{Issuers: []token.Issuer{{}}}
		if on.Tokens != nil {
			demand = *on.Tokens
		}
		gate := policy.Gate{Layer: policy.L7, Default: policy.Verdict{Origin: "default"}}
		for i, when := range rapid.SliceOfN(claimCondition(2), 1, 3).Draw(t, "rules") {
			gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: fmt.Sprint(i)}, When: when})
		}
		p := policy.Program{Gates: []policy.Gate{gate}}
		cover := classes.Cut(on, p)
		if !cover.Complete() {
			t.Fatalf("%s\n%q", p, cover.Sampled)
		}
		known := map[policy.Decision]bool{}
		for i, c := range cover.Classes {
			known[policy.Decide(p, c.Witness)] = true
			if at, ok := cover.Locate(c.Witness); !ok || at != i {
				t.Fatalf("witness %v of class %d is in class %d\n%s", c.Witness.Others, i, at, p)
			}
			requests := []policy.Request{c.Witness}
			for _, n := range cover.Neighbours(i) {
				requests = append(requests, n.Request)
			}
			for _, r := range requests {
				sent := demand.Complete(token.FromClaims(r.Others))
				if refusal := demand.Refuses(sent); refusal != (token.Refusal{}) {
					t.Fatalf("%v of class %d: %s\n%s", r.Others, i, refusal.Why, p)
				}
				if seen := (policy.Request{Others: demand.Seen(sent)}); policy.Decide(p, seen) != policy.Decide(p, r) {
					t.Fatalf("class %d is %v, the policies see %v\n%s", i, r.Others, seen.Others, p)
				}
			}
		}
		for _, sent := range tokens {
			if demand.Refuses(sent) != (token.Refusal{}) {
				continue
			}
			r := cover.Classes[0].Witness
			r.Others = demand.Seen(sent)
			at, ok := cover.Locate(r)
			if !ok {
				t.Fatalf("%v is in no class of\n%s%s", r.Others, p, cover)
			}
			if want, got := policy.Decide(p, cover.Classes[at].Witness), policy.Decide(p, r); want != got {
				t.Fatalf("%v is in the class of %v, and decided as %v, not as %v\n%s", r.Others, cover.Classes[at].Witness.Others, got, want, p)
			}
		}
	})
}
