package classes_test

import (
	"fmt"
	"testing"

	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// A mesh may trust many issuers of tokens, whose names are addresses, and many trust domains. All of
// them together are no reason to fail: the classes are those of a mesh with few.
func TestManyLongNamesOfTheMesh(t *testing.T) {
	t.Parallel()
	var issuers []token.Issuer
	var domains []string
	for i := range 120 {
		issuers = append(issuers, token.Issuer{Name: fmt.Sprintf("https://login.example.com/00000000-0000-0000-0000-%012d/v2.0", i)})
		domains = append(domains, fmt.Sprintf("cluster-%03d.of-a-mesh-with-a-rather-long-name.prod.example.com", i))
	}
	gate := policy.Gate{Layer: policy.L7, Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "x"}, When: policy.And{
		attribute.Claim("iss").Exact(issuers[7].Name), attribute.URISAN.Prefix("spiffe://" + domains[5] + "/ns/shop/"), is(attribute.Path, policy.Regex, `/a(b|c)*`),
	}}}}
	for name, on := range map[string]classes.Surface{
		"issuers":                   {Protocol: policy.HTTP, Tokens: &token.Demand{Issuers: issuers}},
		"trust domains":             {Protocol: policy.HTTP, TrustDomains: domains, Tokens: &token.Demand{Issuers: issuers[:8]}},
		"issuers and trust domains": {Protocol: policy.HTTP, TrustDomains: domains, Tokens: &token.Demand{Issuers: issuers}},
	} {
		cover := classes.Cut(on, policy.Program{Gates: []policy.Gate{gate}})
		allowed := 0
		for _, c := range cover.Classes {
			if policy.Decide(policy.Program{Gates: []policy.Gate{gate}}, c.Witness).Effect == policy.Allow {
				allowed++
			}
		}
		if allowed != 1 || !cover.Complete() {
			t.Errorf("%s: %d classes are let in: %v", name, allowed, cover.Sampled)
		}
	}
}
