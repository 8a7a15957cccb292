package knowncaller_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/meshproof/meshproof/internal/knowncaller"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// leaves ask for names, for the server name, and for what is known of a request alone.
var leaves = []policy.Condition{
	attribute.Identity.Exact("spiffe://td/a"), attribute.Identity.Exact(""),
	policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: policy.Prefix, Value: "spiffe://td/"}},
	policy.Is{Attribute: attribute.URISAN, Match: policy.Match{Kind: policy.Present}},
	policy.Is{Attribute: attribute.DNSSAN, Match: policy.Match{Kind: policy.Exact, Value: "a.example"}},
	attribute.SNI.Exact("a"), attribute.SNI.Exact(""),
	attribute.Path.Exact("/a"), attribute.Method.Exact("PUT"),
	policy.Is{Attribute: attribute.SourceAddress, Match: policy.Match{Kind: policy.CIDR, Value: "10.0.0.0/8"}},
}

func condition(rng *rand.Rand, depth int) policy.Condition {
	if depth == 0 {
		return leaves[rng.IntN(len(leaves))]
	}
	a, b := condition(rng, depth-1), condition(rng, depth-1)
	switch rng.IntN(4) {
	case 0:
		return policy.And{a, b}
	case 1:
		return policy.Or{a, b}
	case 2:
		return policy.Not{Condition: a}
	default:
		return a
	}
}

func program(rng *rand.Rand) policy.Program {
	gate := func() policy.Gate {
		g := policy.Gate{Layer: policy.L7}
		for range 1 + rng.IntN(3) {
			g.Rules = append(g.Rules, policy.Rule{When: condition(rng, 2), Verdict: policy.Verdict{Effect: policy.Effect(rng.IntN(2)), Origin: string(rune('a' + rng.IntN(9)))}})
		}
		return g
	}
	return policy.Program{Gates: []policy.Gate{gate(), gate()}, Shadows: []policy.Gate{gate()}}
}

// TestSettledProgramsDecideAsBefore holds settled programs against those that they are made of, for each request
// of the caller.
func TestSettledProgramsDecideAsBefore(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		p := program(rng)
		for _, uris := range [][]string{nil, {"spiffe://td/a"}, {"spiffe://td/b"}, {"spiffe://other/a", "spiffe://td/a"}} {
			for _, sni := range []string{"", "a"} {
				for _, path := range []string{"/a", "/b"} {
					for _, source := range []string{"10.0.0.1", "192.0.2.1"} {
						r := policy.Request{URIs: uris, SNI: sni, Path: path, Method: "GET", Source: netip.MustParseAddr(source)}
						if got, want := policy.Decide(knowncaller.Settle(p, uris...), r), policy.Decide(p, r); got != want {
							t.Fatalf("%v: %v, want %v\n%v", r, got, want, p)
						}
						if len(uris) > 0 || sni != "" {
							continue
						}
						if got, want := policy.Decide(knowncaller.InPlaintext(p), r), policy.Decide(p, r); got != want {
							t.Fatalf("in plaintext: %v: %v, want %v\n%v", r, got, want, p)
						}
					}
				}
			}
		}
		for c := range knowncaller.InPlaintext(p).Conditions() {
			if is, ok := c.(policy.Is); ok && (is.Attribute == attribute.Identity || is.Attribute == attribute.URISAN || is.Attribute == attribute.DNSSAN || is.Attribute == attribute.SNI) {
				t.Fatalf("a question is left: %v", c)
			}
		}
	}
}
