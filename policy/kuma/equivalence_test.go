package kuma_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/fixture"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// TestEvaluateAgreesWithLower compares two independent readings of the same text.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		yaml := fixture.DrawPolicies(r)
		ps := fixture.Parse(t, yaml)
		for _, in := range fixture.Inbounds() {
			for _, form := range []permission.ShadowForm{permission.Accepted, permission.Precise} {
				opts := permission.Options{ShadowForm: form}
				program := lowering.Lower(selection.Select(ps, in, opts), in, opts)
				if err := program.Check(); err != nil {
					r.Fatal(err)
				}
				request := fixture.DrawRequest(r)
				if in.Protocol == policy.TCP {
					request.Method, request.Path = "", ""
				}
				want, got := evaluation.Evaluate(ps, in, opts, request), policy.Decide(program, request)
				if diff := cmp.Diff(want, got); diff != "" {
					r.Fatalf("%s %s %+v (-text +program):\n%s\n%s\n%s", in, form, request, diff, yaml, program)
				}
			}
		}
	})
}

// TestOrderOfPoliciesDoesNotMatter shuffles the input.
func TestOrderOfPoliciesDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		ps := fixture.Parse(t, fixture.DrawPolicies(r))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		for _, in := range fixture.Inbounds() {
			want := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			got := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			if !got.Equal(want) {
				r.Fatalf("want\n%s\ngot\n%s", want, got)
			}
		}
	})
}
