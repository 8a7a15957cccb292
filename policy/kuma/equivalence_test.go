package kuma_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/evaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/lowering"
	"github.com/meshproof/meshproof/policy/kuma/internal/permission"
	"github.com/meshproof/meshproof/policy/kuma/internal/selection"
)

// The values are few and similar, so that matchers often match, overlap or just fail.
var (
	prefixes = []string{"spiffe://td/", "spiffe://td", "spiffe://td/ns/a", "spiffe://td/ns/a/", "spiffe://td/ns/a/sa/x"}
	ids      = []string{"spiffe://td/ns/a/sa/x", "spiffe://td/ns/a/sa/y", "spiffe://td/ns/ab/sa/x", "spiffe://td", "spiffe://tdx/ns/a/sa/x"}
	paths    = []string{"/", "/a", "/a/", "/a/b", "/ab", "/a/b/"}
	methods  = []string{"GET", "POST", "HEAD"}
)

func drawMatch(t *rapid.T, exact, prefix []string) string {
	if rapid.Bool().Draw(t, "exact") {
		return fmt.Sprintf("{type: Exact, value: %s}", rapid.SampledFrom(exact).Draw(t, "value"))
	}
	return fmt.Sprintf("{type: Prefix, value: %s}", rapid.SampledFrom(prefix).Draw(t, "value"))
}

func drawMatcher(t *rapid.T) string {
	fields := rapid.IntRange(1, 7).Draw(t, "fields")
	var parts []string
	if fields&1 != 0 {
		parts = append(parts, "spiffeId: "+drawMatch(t, ids, prefixes))
	}
	if fields&2 != 0 {
		parts = append(parts, "path: "+drawMatch(t, paths, paths))
	}
	if fields&4 != 0 {
		parts = append(parts, "method: "+rapid.SampledFrom(methods).Draw(t, "method"))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawConf(t *rapid.T) string {
	var lists []string
	for _, name := range []string{"deny", "allowWithShadowDeny", "allow"} {
		if rapid.Bool().Draw(t, name) {
			lists = append(lists, name+": ["+strings.Join(rapid.SliceOfN(rapid.Custom(drawMatcher), 0, 3).Draw(t, "matchers"), ", ")+"]")
		}
	}
	return "{" + strings.Join(lists, ", ") + "}"
}

func drawPolicies(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "policies") {
		target := rapid.SampledFrom([]string{"{}", "{kind: Dataplane}", "{kind: Dataplane, sectionName: http-port}", "{kind: Dataplane, labels: {app: other}}"}).Draw(t, "target")
		confs := rapid.SliceOfN(rapid.Custom(drawConf), 0, 2).Draw(t, "rules")
		for i := range confs {
			confs[i] = "{default: " + confs[i] + "}"
		}
		fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, name: p%d, spec: {targetRef: %s, rules: [%s]}}\n", i, target, strings.Join(confs, ", "))
	}
	return b.String()
}

func drawRequest(t *rapid.T) policy.Request {
	return policy.Request{
		URIs:   rapid.SliceOfN(rapid.SampledFrom(ids), 0, 2).Draw(t, "uris"),
		Method: rapid.SampledFrom(methods).Draw(t, "method"),
		Path:   rapid.SampledFrom(append([]string{"", "*"}, paths...)).Draw(t, "path") + rapid.SampledFrom([]string{"", "?q=/a"}).Draw(t, "query"),
	}
}

// TestEvaluateAgreesWithLower compares two independent readings of the same text.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		yaml := drawPolicies(r)
		ps := parseAll(t, yaml)
		for _, in := range inbounds() {
			for _, form := range []permission.ShadowForm{permission.Accepted, permission.Precise} {
				opts := permission.Options{ShadowForm: form}
				program := lowering.Lower(selection.Select(ps, in, opts), in, opts)
				if err := program.Check(); err != nil {
					r.Fatal(err)
				}
				request := drawRequest(r)
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
		ps := parseAll(t, drawPolicies(r))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		for _, in := range inbounds() {
			want := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			got := lowering.Lower(selection.Select(ps, in, permission.Options{}), in, permission.Options{})
			if !got.Equal(want) {
				r.Fatalf("want\n%s\ngot\n%s", want, got)
			}
		}
	})
}
