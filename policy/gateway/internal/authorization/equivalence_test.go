package authorization_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/dialecttest"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
	"github.com/meshproof/meshproof/policy/gateway/internal/evaluation"
)

// The values are few and similar, so that sources often match, overlap or just fail.
var (
	names = []string{
		"spiffe://td/ns/default/sa/a", "spiffe://td/ns/default/sa/a/b", "spiffe://td/ns/default/sa/ab", "spiffe://td/ns/default/sa", "spiffe://td/ns/web/sa/a",
		"spiffe://td/ns/finance/sa/a", "spiffe://td/ns/web-2/sa/a", "spiffe://td/ns/web/sa2/a", "spiffe://td/a", "spiffe://td2/ns/default/sa/a", "spiffe://td2/ns/web/sa/a", "spiffe://td/x/ns/web/sa/a",
		"spiffe:/x/td/ns/web/sa/a", "frontend.td",
	}
	spiffeIDs  = names[:12]
	accounts   = []string{"{name: a}", `{name: "*"}`, "{namespace: web, name: a}", `{namespace: web, name: "*"}`, "{namespace: default, name: ab}"}
	ports      = []string{"8080", "5432", "9090", "80"}
	selectors  = []string{"{}", "{matchLabels: {app: backend}}", "{matchLabels: {app: backend, tier: web}}", "{matchLabels: {}, matchExpressions: []}"}
	conditions = []string{
		"{key: app, operator: In, values: [backend, frontend]}", "{key: app, operator: In, values: [other]}", "{key: tier, operator: In, values: [data, web]}",
		"{key: tier, operator: NotIn, values: [data]}", "{key: tier, operator: NotIn, values: [web]}", "{key: tier, operator: Exists}", "{key: app, operator: Exists, values: []}",
		"{key: tier, operator: DoesNotExist}", "{key: other, operator: DoesNotExist}",
	}
)

func drawSource(t *rapid.T) string {
	if rapid.Bool().Draw(t, "spiffe") {
		return "{type: SPIFFE, spiffe: " + rapid.SampledFrom(spiffeIDs).Draw(t, "id") + "}"
	}
	return "{type: ServiceAccount, serviceAccount: " + rapid.SampledFrom(accounts).Draw(t, "account") + "}"
}

func drawRule(t *rapid.T) string {
	var parts []string
	if rapid.Bool().Draw(t, "sources") {
		parts = append(parts, "sources: ["+strings.Join(rapid.SliceOfN(rapid.Custom(drawSource), 0, 3).Draw(t, "sources"), ", ")+"]")
	}
	switch rapid.IntRange(0, 3).Draw(t, "attributes") {
	case 0:
		parts = append(parts, "networkAttributes: {}")
	case 1, 2:
		parts = append(parts, "networkAttributes: {ports: ["+strings.Join(rapid.SliceOfN(rapid.SampledFrom(ports), 1, 3).Draw(t, "ports"), ", ")+"]}")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func drawSelector(t *rapid.T) string {
	if rapid.Bool().Draw(t, "labels") {
		return rapid.SampledFrom(selectors).Draw(t, "selector")
	}
	return "{matchExpressions: [" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(conditions), 0, 2).Draw(t, "expressions"), ", ") + "]}"
}

func drawPolicies(t *rapid.T) string {
	var b strings.Builder
	for i := range rapid.IntRange(0, 4).Draw(t, "policies") {
		name := fmt.Sprintf("p%s%d", strings.Repeat("-", i%2), i)
		if namespace := rapid.SampledFrom([]string{"", "default", "finance"}).Draw(t, "namespace"); namespace != "" {
			name += ", namespace: " + namespace
		}
		rules := ""
		if rapid.IntRange(0, 5).Draw(t, "rules") > 0 {
			rules = "[" + strings.Join(rapid.SliceOfN(rapid.Custom(drawRule), 0, 3).Draw(t, "rules"), ", ") + "]"
		}
		b.WriteString(one(name, drawSelector(t), rules))
	}
	return b.String()
}

func drawRequest(t *rapid.T) policy.Request {
	return policy.Request{
		URIs:   rapid.SliceOfN(rapid.SampledFrom(names), 0, 2).Draw(t, "uris"),
		DNS:    rapid.SliceOfN(rapid.SampledFrom(names), 0, 1).Draw(t, "dns"),
		Method: "GET",
		Path:   "/",
	}
}

// TestEvaluateAgreesWithLower compares two independent readings of the same text,
// selection included.
func TestEvaluateAgreesWithLower(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	property.Check(t, func(r *rapid.T) {
		yaml := drawPolicies(r)
		ps := parseAll(t, yaml)
		request := drawRequest(r)
		for _, in := range inbounds() {
			program := authorization.Lower(authorization.Select(ps, in), in, options)
			if err := program.Check(); err != nil {
				r.Fatal(err)
			}
			got := dialecttest.Agree(r, yaml, program, evaluation.ForInbound(ps, in, options), in, request)
			seen[fmt.Sprintf("gates %d, %s, named %t", len(program.Gates), got.Effect, got.Origin != "")]++
		}
	})
	least := 20
	// With -short rapid draws a fifth, which is too few for rare forms.
	if testing.Short() {
		least = 1
	}
	for _, outcome := range []string{"gates 0, allow, named false", "gates 1, allow, named true", "gates 1, deny, named false"} {
		if seen[outcome] < least {
			t.Errorf("outcome %q was seen %d times only: the requests miss the policies", outcome, seen[outcome])
		}
	}
}

// TestOrderOfPoliciesDoesNotMatter shuffles the input.
func TestOrderOfPoliciesDoesNotMatter(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps := parseAll(t, drawPolicies(r))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 0))
		for _, in := range inbounds() {
			want := authorization.Lower(authorization.Select(ps, in), in, options)
			random.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
			if got := authorization.Lower(authorization.Select(ps, in), in, options); !got.Equal(want) {
				r.Fatalf("want\n%s\ngot\n%s", want, got)
			}
		}
	})
}

// TestAnotherPolicyKeepsNoCallerOut: one more policy keeps out no caller of the others, unless it
// is the first that selects the workload.
func TestAnotherPolicyKeepsNoCallerOut(t *testing.T) {
	t.Parallel()
	property.Check(t, func(r *rapid.T) {
		ps := parseAll(t, drawPolicies(r))
		request := drawRequest(r)
		for _, in := range inbounds() {
			for n := range ps {
				before := authorization.Lower(authorization.Select(ps[:n], in), in, options)
				after := authorization.Lower(authorization.Select(ps[:n+1], in), in, options)
				if len(before.Gates) > 0 && policy.Decide(before, request).Effect == policy.Allow && policy.Decide(after, request).Effect == policy.Deny {
					r.Fatalf("%s: %s takes from %+v what the others grant", in, ps[n], request)
				}
			}
		}
	})
}

// many returns a namespace of a thousand policies. A hundred of them select the backend, with
// two rules of two sources each.
func many() string {
	var b strings.Builder
	for i := range 1000 {
		app := "other"
		if i%10 == 0 {
			app = "backend"
		}
		b.WriteString(one(fmt.Sprintf("p%04d", i), "{matchLabels: {app: "+app+"}}", fmt.Sprintf(
			`[{sources: [{type: SPIFFE, spiffe: spiffe://td/%d}, {type: ServiceAccount, serviceAccount: {name: a%d}}], networkAttributes: {ports: [8080]}}, {sources: [{type: ServiceAccount, serviceAccount: {namespace: n%d, name: "*"}}, {type: SPIFFE, spiffe: spiffe://td/x/%d}]}]`, i, i, i, i)))
	}
	return b.String()
}

func BenchmarkParseAll(b *testing.B) {
	docs := documents(b, many())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := authorization.ParseAll(docs); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSelectAndLower(b *testing.B) {
	ps := parseAll(b, many())
	in := inbounds()[0]
	b.ReportAllocs()
	for b.Loop() {
		if p := authorization.Lower(authorization.Select(ps, in), in, options); len(p.Gates[0].Rules) != 200 {
			b.Fatalf("%d rules", len(p.Gates[0].Rules))
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	ps := parseAll(b, many())
	in, r := inbounds()[0], policy.Request{URIs: []string{"spiffe://td/nobody"}}
	b.ReportAllocs()
	for b.Loop() {
		evaluation.ForInbound(ps, in, options)(r)
	}
}

// TestPrograms lowers the policies of each archive for each inbound and compares
// selection, program, warnings, status and inherited policies with the archive's
// other files.
func TestPrograms(t *testing.T) {
	t.Parallel()
	golden.Archives(t, "programs/*.txtar", func(t *testing.T, input string) (got []txtar.File) {
		add := func(name, text string) { got = append(got, txtar.File{Name: name, Data: []byte(text)}) }
		ps := parseAll(t, input)
		for _, in := range inbounds() {
			add(fmt.Sprintf("%s (%s)", in, in.Protocol), describe(t, ps, in))
		}
		var warnings, status strings.Builder
		for _, w := range authorization.Lint(ps, inbounds()) {
			fmt.Fprintf(&warnings, "warning: %s\n", w)
		}
		add("lint", warnings.String())
		for _, doc := range documents(t, input) {
			c := authorization.Status(doc, workloads()).Ancestors[0].Conditions[0]
			fmt.Fprintf(&status, "%s %s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
		add("status", status.String())
		return got
	})
}

func workloads() []policy.Workload {
	var out []policy.Workload
	for _, in := range inbounds() {
		out = append(out, in.Workload)
	}
	return out
}

// describe prints all that is decided about one inbound.
func describe(t *testing.T, ps []authorization.Policy, in policy.Inbound) string {
	t.Helper()
	var b strings.Builder
	sel := authorization.Select(ps, in)
	for _, p := range authorization.InheritedPolicies(ps, in.Workload) {
		fmt.Fprintf(&b, "inherited %s %s by %s %s\n", p.Type, p.Name, p.TargetKind, p.Target)
	}
	for _, i := range sel.Ignored {
		fmt.Fprintf(&b, "ignored %s\n", i)
	}
	program := authorization.Lower(sel, in, options)
	if err := program.Check(); err != nil {
		t.Error(err)
	}
	b.WriteString(program.String())
	return b.String()
}
