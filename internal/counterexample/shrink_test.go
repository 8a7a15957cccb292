package counterexample_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
)

// counted is a still that counts how often it is asked.
type counted struct {
	t     testing.TB
	holds func(c cases.Case) bool
	tries int
}

func (s *counted) still(_ context.Context, r *verdict.Reading) bool {
	c := r.Case
	s.tries++
	if len(c.Requests) != 1 {
		s.t.Errorf("asked about %d requests", len(c.Requests))
	}
	return s.holds(c)
}

// names reports whether the policies say a text somewhere.
func names(text string) func(cases.Case) bool {
	return func(c cases.Case) bool {
		return slices.ContainsFunc(c.Policies, func(doc manifest.Document) bool { return strings.Contains(string(doc.YAML()), text) })
	}
}

// reversed is what an Envoy would do whose filters have their rules the wrong way
// round: it differs where two rules meet a request.
func reversed(c cases.Case) bool {
	return differs(c, func(gate *policy.Gate) {
		gate.Rules = slices.Clone(gate.Rules)
		slices.Reverse(gate.Rules)
	})
}

// withoutPaths lets every path pass for every other.
func withoutPaths(c cases.Case) bool {
	return differs(c, func(gate *policy.Gate) {
		gate.Rules = slices.Clone(gate.Rules)
		for i := range gate.Rules {
			gate.Rules[i].When = anyPath(gate.Rules[i].When)
		}
	})
}

func anyPath(when policy.Condition) policy.Condition {
	return policy.Rewrite(when, policy.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Attribute == attribute.Path {
			return policy.Always
		}
		return c
	}))
}

// differs reports whether the request is decided otherwise once every gate was changed.
func differs(c cases.Case, change func(*policy.Gate)) bool {
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return false
	}
	q := c.Requests[0]
	for _, in := range c.Inbounds {
		if in.String() != q.To || q.From.Plaintext || q.From.Anonymous {
			continue
		}
		program := set.Program(in.Inbound).Program
		r := policy.Request{URIs: q.From.Template.URIs, DNS: q.From.Template.DNS}
		if in.Protocol.Layer() == policy.L7 {
			r.Method, r.Path = q.Method, q.Path
			if r.Method == "" {
				r.Method = "GET"
			}
			if r.Path == "" {
				r.Path = "/"
			}
		}
		faulty := program
		faulty.Gates = slices.Clone(program.Gates)
		for i := range faulty.Gates {
			change(&faulty.Gates[i])
		}
		return policy.Decide(program, r).Effect != policy.Decide(faulty, r).Effect
	}
	return false
}

// items counts what the policies of a case match by.
func items(c cases.Case) int {
	n := 0
	for _, doc := range c.Policies {
		for line := range strings.Lines(string(doc.YAML())) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "- ") && line != "- default:" {
				n++
			}
		}
	}
	return n
}

// shrunk is a small case that reads as it is written, and shows what it shall.
func shrunk(t *testing.T, s *counted, c cases.Case, q cases.Request) cases.Case {
	t.Helper()
	s.t = t
	small := counterexample.Shrink(t.Context(), s.still, c, q)
	all, err := cases.Parse("small.yaml", casewriter.YAML(small))
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %v in\n%s", c.Place, err, casewriter.YAML(small))
	}
	if !s.holds(all[0]) || len(all[0].Requests) != 1 || len(all[0].Inbounds) != 1 || !strings.HasPrefix(small.Name, "counterexample: ") {
		t.Errorf("%s: no counterexample:\n%s", c.Place, casewriter.YAML(small))
	}
	if string(casewriter.YAML(small)) != small.Source {
		t.Errorf("%s: the source is not the case:\n%s", c.Place, small.Source)
	}
	return small
}

// disagreements are the requests of a case's proof that a fault decides otherwise.
func disagreements(t *testing.T, c cases.Case, fault func(cases.Case) bool) (planned cases.Case, out []cases.Request) {
	t.Helper()
	p, err := proof.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p.Case.Requests {
		one := p.Case
		one.Requests = []cases.Request{q}
		if fault(one) {
			out = append(out, q)
		}
	}
	return p.Case, out
}

// TestShrinkFindsTheRules: whatever the policies, two rules the wrong way round are
// found as those two, and a rule that forgets its path as that one.
func TestShrinkFindsTheRules(t *testing.T) {
	t.Parallel()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		fault          func(cases.Case) bool
		story          []string
		policies, item int
	}{
		"reversed":      {reversed, []string{"order", "mesh-operator-2", "service-owner-5"}, 2, 2},
		"without paths": {withoutPaths, []string{"path", "method", "mesh-operator-4", "service-owner-4"}, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen, most, sum, longest := 0, 0, 0, 0
			for _, c := range stories {
				enough := testing.Short() && seen >= 5
				if enough || !slices.Contains(tt.story, c.Story) || c.ExpectError != "" {
					continue
				}
				planned, all := disagreements(t, c, tt.fault)
				for _, q := range all[:min(len(all), 3)] {
					s := &counted{holds: tt.fault}
					small := shrunk(t, s, planned, q)
					if len(small.Policies) > tt.policies || items(small) > tt.item {
						t.Errorf("%s: %d policies with %d items:\n%s", c.Place, len(small.Policies), items(small), casewriter.YAML(small))
					}
					seen, most, sum = seen+1, max(most, s.tries), sum+s.tries
					longest = max(longest, len(casewriter.YAML(small)))
				}
			}
			if seen < 5 {
				t.Fatalf("%d disagreements are too few to say anything", seen)
			}
			t.Logf("%d counterexamples of up to %d bytes, %d tries on average, %d at most", seen, longest, sum/seen, most)
			if most > 150 {
				t.Errorf("%d tries", most)
			}
		})
	}
}
