package classes_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// BenchmarkClaims cuts the classes of 100 rules that ask for a subject, a group and a level.
func BenchmarkClaims(b *testing.B) {
	gate := policy.Gate{Layer: policy.L7, Form: policy.Named}
	for i := range 100 {
		gate.Rules = append(gate.Rules, policy.Rule{Verdict: policy.Verdict{Effect: policy.Allow, Origin: fmt.Sprint(i)}, When: policy.And{
			attribute.Claim("sub").Prefix(fmt.Sprintf("user-%d-", i)),
			policy.Or{attribute.Claim("groups").Exact(fmt.Sprint("team-", i)), attribute.Claim("groups", "[]").Exact(fmt.Sprint("team-", i))},
			policy.Not{Condition: attribute.Claim("level", "#").Exact(fmt.Sprint(i))},
		}})
	}
	p := policy.Program{Gates: []policy.Gate{gate}}
	on := classes.Surface{Protocol: policy.HTTP, Tokens: &token.Demand{Issuers: []token.Issuer{{Name: "a"}, {Name: "b", Audiences: []string{"api"}}}}}
	for b.Loop() {
		if cover := classes.Cut(on, p); !cover.Complete() || len(cover.Classes) < 100 {
			b.Fatal(cover)
		}
	}
}
