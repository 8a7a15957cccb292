package suite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// wrongFrom returns a compiler that is right about an inbound until it is asked for the nth time,
// and from then on gives changed filters, or another error.
func wrongFrom(nth int, honest CompilerFunc, change func(*xds.Filters) error) CompilerFunc {
	var mu sync.Mutex
	times := map[string]int{}
	return func(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
		f, err := honest(ctx, in, docs, opts)
		mu.Lock()
		defer mu.Unlock()
		if times[in.String()]++; times[in.String()] < nth {
			return f, err
		}
		f.Network, f.HTTP, f.Routes = cloned(f.Network), cloned(f.HTTP), slices.Clone(f.Routes)
		err = change(&f)
		return f, err
	}
}

func cloned[M proto.Message](of []M) []M {
	out := make([]M, len(of))
	for i, m := range of {
		out[i] = proto.CloneOf(m)
	}
	return out
}

// twice doubles the callers of a policy, which changes no decision.
func twice(p *rbacv3.Policy) { p.Principals = append(p.Principals, p.Principals...) }

// ownCompiler is meshproof's own compiler.
func ownCompiler(ctx context.Context, in policy.Inbound, docs []manifest.Document, opts language.Options) (xds.Filters, error) {
	return CompileOne(ctx, Reference, in, docs, opts)
}

// Each of these compilers passes a case, and gives another answer later. An answer that is
// right, too, is as good as the first.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	ok := func(change func(*xds.Filters)) func(*xds.Filters) error {
		return func(f *xds.Filters) error { change(f); return nil }
	}
	plaintext := ok(principal(`{"notId": {"authenticated": {}}}`))
	routed := func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
		return xds.Compile(policy.Program{
			Gates:  []policy.Gate{orderedGate(policy.L7, policy.Deny)},
			Routes: []policy.Route{{Name: "orders", When: admin, Gates: []policy.Gate{orderedGate(policy.L7, policy.Allow)}}},
		})
	}
	refusing := func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
		return xds.Filters{}, errors.New("no matcher")
	}
	const (
		refused = "case: no matcher\nworkloads: [{name: backend, inbounds: [{port: 8080, protocol: tcp}]}]\n" +
			"policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}]\nexpectError: 'default.allow[0]'\n"
		unknown = `
case: a policy of another mesh
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}]}]
policies: [{apiVersion: other.mesh/v1, kind: Gate, spec: {}}]
requests:
  - {from: ` + frontend + `, to: backend/http-port, path: /admin, want: allow}
  - {from: ` + frontend + `, to: backend/http-port, path: /, want: deny}
`
	)
	for name, tt := range map[string]struct {
		text    string
		compile CompilerFunc
		// problem is in the first problem; "" for none.
		problem string
		others  bool
	}{
		"the same filters":          {accounts, ownCompiler, "", false},
		"plaintext the second time": {accounts, wrongFrom(2, ownCompiler, plaintext), "callers in plaintext", true},
		"plaintext the third time":  {accounts, wrongFrom(3, ownCompiler, plaintext), "callers in plaintext", true},
		"another identity":          {accounts, wrongFrom(2, ownCompiler, ok(principal(`{"authenticated": {"principalName": {"exact": "spiffe://trust-domain.mesh/ns/evil/sa/x"}}}`))), "ns/evil/sa/x", true},
		"what cannot be read":       {accounts, wrongFrom(3, ownCompiler, ok(principal(`{"filterState": {"key": "x", "stringMatch": {"exact": "y"}}}`))), "filter_state", true},
		"an open HTTP filter":       {unknown, wrongFrom(2, routed, ok(func(f *xds.Filters) { f.HTTP[0] = &httprbacv3.RBAC{} })), "the case wants deny, Envoy says served", true},
		"the same rules twice":      {accounts, wrongFrom(2, ownCompiler, ok(eachPolicy(twice))), "", true},
		"a refusal":                 {accounts, wrongFrom(2, ownCompiler, func(*xds.Filters) error { return errors.New("tired") }), "a refusal: the compiler refuses the policies: tired", true},
		"a refusal that ends":       {refused, wrongFrom(2, refusing, func(*xds.Filters) error { return nil }), "the compiler accepts policies that must be refused", true},
		"a refusal that stays":      {refused, refusing, "", false},
		"unknown policies":          {unknown, wrongFrom(2, routed, ok(func(f *xds.Filters) { f.HTTP = nil })), "the case wants deny, Envoy says served", true},
		"another path of a route": {unknown, wrongFrom(3, routed, ok(func(f *xds.Filters) {
			f.Routes[0].Match = &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}}
		})), "the case wants deny, Envoy says served", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiler := (&Foreign{CompilerFunc: tt.compile}).Remembering()
			runner := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, AnyNames: true, Read: verdict.ReadForeign}
			if first := runner.Case(t.Context(), casetest.Parse(t, tt.text)); !first.Passed() {
				t.Fatalf("the first time: %v", first.Failures())
			}
			again, err := compiler.AskAgain(t.Context(), 7)
			if err != nil {
				t.Fatal(err)
			}
			if all := fmt.Sprint(again.Problems); !strings.Contains(all, tt.problem) || (len(again.Problems) == 0) != (tt.problem == "") {
				t.Errorf("%q, want %q", again.Problems, tt.problem)
			}
			if again.Answers < leastAgain && tt.problem == "" || again.Others > 0 != tt.others {
				t.Errorf("%d answers, %d others", again.Answers, again.Others)
			}
		})
	}
}

// A compiler that is out of order when it is asked again has answered nothing.
func TestAskAgainOfABrokenCompiler(t *testing.T) {
	t.Parallel()
	compiler := (&Foreign{CompilerFunc: wrongFrom(2, ownCompiler, func(*xds.Filters) error { return outOfOrder{} })}).Remembering()
	runner := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler}
	if first := runner.Case(t.Context(), casetest.Parse(t, accounts)); !first.Passed() {
		t.Fatal(first.Failures())
	}
	if again, err := compiler.AskAgain(t.Context(), 7); !errors.As(err, new(outOfOrder)) || len(again.Problems) > 0 {
		t.Errorf("%v, %q", err, again.Problems)
	}
}

// The number of times follows from the seed. Each case is asked about at least two more times,
// and some cases are asked about much more often.
func TestQuestionsOf(t *testing.T) {
	t.Parallel()
	before := make([]*asked, 100)
	for i := range before {
		before[i] = &asked{input: Input{Inbounds: make([]policy.Inbound, 3)}}
	}
	draw := func(seed uint64) []question { return questionsOf(before, rand.New(rand.NewPCG(seed, 1))) }
	times := map[*asked]int{}
	for _, q := range draw(7) {
		times[q.asked]++
	}
	most := 0
	for _, a := range before {
		most = max(most, times[a])
		if times[a] < leastAgain || times[a] > mostAgain {
			t.Errorf("%d times", times[a])
		}
	}
	if most < leastAgain+3 {
		t.Errorf("no case is asked about more than %d times", most)
	}
	same := func(a, b question) bool { return a.asked == b.asked && slices.Equal(a.order, b.order) }
	if !slices.EqualFunc(draw(7), draw(7), same) || slices.EqualFunc(draw(7), draw(8), same) {
		t.Error("the questions do not follow from the seed")
	}
}
