package authorization_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
)

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
		authorization.Evaluate(ps, in, options, r)
	}
}
