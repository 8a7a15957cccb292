package candidates_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/candidates"
	"github.com/meshproof/meshproof/internal/draw"
	"github.com/meshproof/meshproof/internal/programtest"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/rewrite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
)

// The smaller program decides as the whole one does, with its routes and the rules within
// rules, and every rule that a request meets is still there.
func TestNarrowDecidesAlike(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		p := draw.Program().Draw(t, "program")
		for i := range p.Gates {
			for k := range p.Gates[i].Rules {
				if p.Gates[i].Form == policy.Ordered {
					p.Gates[i].Rules[k].Then = draw.Gate(p.Gates[i].Layer, true).Draw(t, "then").Rules
				}
			}
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "routes") {
			p.Routes = append(p.Routes, policy.Route{
				Name: fmt.Sprint(i), When: attribute.Path.Segments(rapid.SampledFrom(draw.Paths).Draw(t, "route")),
				Gates: rapid.SliceOfN(draw.Gate(policy.L7, false), 0, 2).Draw(t, "gates"),
			})
		}
		inAnyCase(t, p)
		index := candidates.OfAny(p)
		for range 8 {
			r := draw.Request().Draw(t, "request")
			if want, got := policy.Decide(p, r), index.Decide(r); want != got {
				t.Fatalf("%+v: decided as %+v, by its candidates as %+v\n%s\n%s", r, want, got, p, index.Narrow(&r))
			}
		}
	})
}

// inAnyCase lets one match of three take values in any case, and writes its value in capitals.
func inAnyCase(t *rapid.T, p policy.Program) {
	capitals := rewrite.Leaves(func(c policy.Condition) policy.Condition {
		if is, ok := c.(policy.Is); ok && is.Match.Kind <= policy.Segments && rapid.IntRange(0, 2).Draw(t, "any case") == 0 {
			is.Match.AnyCase, is.Match.Value = true, strings.ToUpper(is.Match.Value)
			return is
		}
		return c
	})
	var change func(rules []policy.Rule)
	change = func(rules []policy.Rule) {
		for i := range rules {
			if rules[i].When != nil {
				rules[i].When = rewrite.Condition(rules[i].When, capitals)
			}
			change(rules[i].Then)
		}
	}
	for _, gates := range [][]policy.Gate{p.Gates, p.Shadows} {
		for _, g := range gates {
			change(g.Rules)
		}
	}
	for _, r := range p.Routes {
		inAnyCase(t, policy.Program{Gates: r.Gates, Shadows: r.Shadows})
	}
}

// A match in any case takes values of other bytes than its own.
func TestNarrowKeepsAnyCase(t *testing.T) {
	t.Parallel()
	for _, kind := range []policy.MatchKind{policy.Exact, policy.Prefix} {
		when := policy.Is{Attribute: attribute.Identity, Match: policy.Match{Kind: kind, Value: "spiffe://td/A", AnyCase: true}}
		p := programtest.Enforce(policy.L4, programtest.Allow("any case", when))
		r := policy.Request{URIs: []string{"spiffe://td/a"}}
		if want, got := policy.Decide(p, r), candidates.OfAny(p).Decide(r); got != want || got.Effect != policy.Allow {
			t.Errorf("%s: decided as %+v, by its candidates as %+v", kind, want, got)
		}
	}
}

// Of many alternatives a request gets the ones it can meet.
func TestNarrowLeavesOut(t *testing.T) {
	t.Parallel()
	var or policy.Or
	var rules []policy.Rule
	for i := range 1000 {
		id := fmt.Sprintf("spiffe://td/%d", i)
		or = append(or, programtest.Is(id))
		rules = append(rules, programtest.Deny("exact", programtest.Is(id+"/x")), programtest.Deny("prefix", policy.And{attribute.Method.Exact("GET"), programtest.HasPrefix(id + "/")}))
	}
	rules = append(rules, programtest.Allow("or", or), programtest.Allow("any", policy.Not{Condition: attribute.Method.Exact("POST")}))
	index := candidates.NewIndex(programtest.Enforce(policy.L7, rules...))
	for identity, want := range map[string]string{
		"spiffe://td/7":      `[allow by or when identity = "spiffe://td/7" allow by any when not method = "POST"]`,
		"spiffe://td/7/x":    `[deny by exact when identity = "spiffe://td/7/x" deny by prefix when method = "GET" and identity starts with "spiffe://td/7/" allow by any when not method = "POST"]`,
		"spiffe://td/7/y":    `[deny by prefix when method = "GET" and identity starts with "spiffe://td/7/" allow by any when not method = "POST"]`,
		"spiffe://other/7/y": `[allow by any when not method = "POST"]`,
	} {
		var got []string
		for _, rule := range index.Narrow(&policy.Request{URIs: []string{identity}, Method: "GET"}).Gates[0].Rules {
			got = append(got, fmt.Sprintf("%s when %s", rule.Verdict, rule.When))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %s, want %s", identity, got, want)
		}
	}
}
