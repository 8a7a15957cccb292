package counterexample_test

import (
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
)

// unasked are the attributes that no dialect asks for in a gate.
var unasked = map[string]bool{"dns-san": true, "query": true, "query-parameter": true, "joined-header": true}

// ignoring is an Envoy that no attribute of the name meets. It reports whether that changes the
// decision about the request of a case.
func ignoring(name string) func(cases.Case) bool {
	leaf := func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && programtest.Family(is.Attribute) == name {
			return policy.Never
		}
		return c
	}
	return func(c cases.Case) bool {
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			return false
		}
		q := c.Requests[0]
		q.Method, q.Path = requestline.MethodAndTarget(q.Method, q.Path, q.GRPC)
		for _, in := range c.Inbounds {
			if in.String() != q.To || q.From.Plaintext || q.From.Anonymous || set.Check(in.Inbound) != nil {
				continue
			}
			program := set.Program(in.Inbound)
			n, err := verdict.NormalizationOf(set, c.Normalization)
			if err != nil {
				return false
			}
			r, rejected := verdict.See(in, n, program.Tokens, q)
			if rejected != nil || program.Tokens.ForRequest(q.Method, q.Headers).RefusesWith(q.Token, q.Path, q.Headers) != (token.Refusal{}) {
				return false
			}
			faulty := program.Program
			faulty.Gates = nil
			for _, gate := range program.Gates {
				rules := make([]policy.Rule, len(gate.Rules))
				for i, rule := range gate.Rules {
					rules[i] = rule
					rules[i].When = rewrite.Condition(rule.When, rewrite.Leaves(leaf))
				}
				gate.Rules = rules
				faulty.Gates = append(faulty.Gates, gate)
			}
			return policy.Decide(program.Program, r).Effect != policy.Decide(faulty, r).Effect
		}
		return false
	}
}

// plainer are changes of a request and of its inbound, each of which a shrunk case needs not to be made.
var plainer = map[string]func(c *cases.Case){
	"the source address": func(c *cases.Case) { c.Requests[0].SourceIP = c.Requests[0].From.SourceIP },
	"the authority":      func(c *cases.Case) { c.Requests[0].Authority = "" },
	"the server name":    func(c *cases.Case) { c.Requests[0].SNI = "" },
	"the token":          func(c *cases.Case) { c.Requests[0].Token = nil },
	"the headers":        func(c *cases.Case) { c.Requests[0].Headers = nil },
	"gRPC":               func(c *cases.Case) { c.Requests[0].GRPC = "" },
	"the method":         func(c *cases.Case) { c.Requests[0].Method = "" },
	"the path":           func(c *cases.Case) { c.Requests[0].Path = "" },
	"the trusted hops":   func(c *cases.Case) { c.Inbounds[0].TrustedHops = 0 },
}

// TestEveryAttributeShrinks shrinks cases, of each attribute some that an Envoy gets wrong which does not see it. What is left
// of the request is needed.
func TestEveryAttributeShrinks(t *testing.T) {
	t.Parallel()
	enough := 2
	if testing.Short() {
		enough = 1
	}
	all := casetest.Stories(t)
	for _, a := range attribute.All() {
		name := programtest.Family(a)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrong := ignoring(name)
			found := 0
			for _, c := range all {
				if found == enough {
					break
				}
				for _, q := range c.Requests {
					one := c
					one.Requests = []cases.Request{q}
					if !wrong(one) {
						continue
					}
					small := shrunk(t, &counted{holds: wrong}, c, q)
					text := string(casewriter.YAML(small))
					for what, change := range plainer {
						next := casetest.Parse(t, text)
						change(&next)
						if string(casewriter.YAML(next)) != text && wrong(next) {
							t.Errorf("%s: %s is not needed:\n%s", c.Place, what, text)
						}
					}
					found++
					break
				}
			}
			if (found == 0) != unasked[name] {
				t.Errorf("%d cases are shrunk", found)
			}
		})
	}
}
