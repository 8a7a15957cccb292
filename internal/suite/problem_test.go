package suite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// checkProblems runs a case of one request, and compares the problems of the request.
func checkProblems(t *testing.T, r Runner, text string, want []string) {
	t.Helper()
	got := r.Case(t.Context(), casetest.Parse(t, text))
	if got.Err != nil || got.Fault {
		t.Fatalf("error %v, fault %t; want neither", got.Err, got.Fault)
	}
	if diff := cmp.Diff(want, got.Requests[0].ProblemTexts()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if passed := len(want) == 0; got.Passed() != passed {
		t.Errorf("passed: %t, want %t", got.Passed(), passed)
	}
}

// Each mistake has a problem of its own: the compiler is wrong,
// or the case wants the wrong thing of a compiler that is right.
func TestProblems(t *testing.T) {
	t.Parallel()
	toHTTP := func(from, more string) string {
		return "requests: [{from: " + from + ", to: backend/http-port, " + more + "}]"
	}
	toTCP := func(from, more string) string {
		return "requests: [{from: " + from + ", to: backend/tcp-port, " + more + "}]"
	}
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		want     []string
	}{
		"allow":             {head + toHTTP(frontend, "want: allow, by: "+friends+", shadow: none"), nil, nil},
		"deny":              {head + toHTTP(intruder, "want: deny, by: default"), nil, nil},
		"403":               {head + toHTTP(intruder, "want: 403"), nil, nil},
		"close":             {head + toTCP(intruder, "want: close"), nil, nil},
		"400":               {head + toHTTP(frontend, "path: /a%2fb, want: 400"), nil, nil},
		"handshake failure": {head + toHTTP("plaintext", "want: handshake-failure"), nil, nil},
		"shadow deny":       {shadowed + toTCP(frontend, "want: allow, shadow: deny, shadowBy: "+friends), nil, nil},
		"shadow allow":      {precise + toHTTP(intruder, "want: allow, shadow: allow, shadowBy: "+friends), nil, nil},

		"grpc":         {grpc + "requests: [{from: " + frontend + ", to: backend/grpc-port, grpc: orders.Orders/List, want: allow, by: " + friends + "}]", nil, nil},
		"grpc, denied": {grpc + "requests: [{from: " + frontend + ", to: backend/grpc-port, grpc: orders.Orders/Drop, want: deny, by: default}]", nil, nil},
		"permissive":   {grpc + "requests: [{from: plaintext, to: backend/grpc-port, grpc: orders.Orders/Drop, want: allow}]", nil, nil},

		"a deny that is allowed": {head + toHTTP(intruder, "want: deny, by: default"), AllowEverything, []string{
			"the case wants deny, Envoy says served (allow by default)",
			"the policies say deny by default, Envoy says served (allow by default)",
		}},
		"an allow that is denied": {head + toHTTP(frontend, "want: allow, by: "+friends), DenyEverything, []string{
			"the case wants allow, Envoy says refused (deny by default)",
			"the policies say allow by " + friends + ", Envoy says refused (deny by default)",
			"the case wants it decided by " + friends + ", Envoy names default",
		}},
		"another policy": {head + toTCP(frontend, "want: allow, by: "+friends), altered(renameAll), []string{
			"the policies say allow by " + friends + ", Envoy says served (allow by other-policy)",
			"the case wants it decided by " + friends + ", Envoy names other-policy",
		}},
		"no filter at all": {head + toHTTP(frontend, "want: allow"), altered(func(p *policy.Program) { *p = policy.Program{} }), []string{
			"the policies say allow by " + friends + ", Envoy says served",
		}},
		"another layer": {head + toHTTP(intruder, "want: 403"), altered(func(p *policy.Program) { p.Gates[0].Layer = policy.L4 }), []string{
			"the case wants 403, Envoy says refused (deny by default)",
			"the refusal should come from an L7 filter, Envoy refused on L4",
		}},
		"no shadow": {shadowed + toHTTP(frontend, "want: allow, shadow: deny, shadowBy: "+friends), altered(func(p *policy.Program) { p.Shadows = nil }), []string{
			"a shadow should run: true, a shadow ran: false",
			"the case wants shadow deny, Envoy says none",
			"the case wants the shadow decided by " + friends + ", Envoy names no policy",
		}},
		"a shadow too many": {head + toTCP(frontend, "want: allow, shadow: none"), altered(func(p *policy.Program) { p.Shadows = p.Gates }), []string{
			"a shadow should run: false, a shadow ran: true",
			"the case wants shadow none, Envoy says allow",
		}},
		"another shadow": {shadowed + toTCP(frontend, "want: allow, shadow: deny"), altered(func(p *policy.Program) { p.Shadows = p.Gates }), []string{
			"the shadow should say deny by " + friends + ", Envoy's says allow by " + friends,
			"the case wants shadow deny, Envoy says allow",
		}},

		"wanted: deny":              {head + toHTTP(frontend, "want: deny"), nil, []string{"the case wants deny, Envoy says served (allow by " + friends + ")"}},
		"wanted: allow":             {head + toTCP(intruder, "want: allow"), nil, []string{"the case wants allow, Envoy says refused (deny by default)"}},
		"wanted: 403":               {head + toHTTP(frontend, "want: 403"), nil, []string{"the case wants 403, Envoy says served (allow by " + friends + ")"}},
		"wanted: 404 for a refusal": {head + toHTTP(intruder, "want: 404"), nil, []string{"the case wants 404, Envoy says refused (deny by default)"}},
		"wanted: 404 for a 400":     {head + toHTTP(intruder, "path: /a%2fb, want: 404"), nil, []string{"the case wants 404, Envoy says rejected with 400"}},
		"wanted: deny for a 400":    {head + toHTTP(intruder, "path: /a%2fb, want: deny"), nil, []string{"the case wants deny, Envoy says rejected with 400"}},
		"wanted: close":             {head + toHTTP(intruder, "want: close"), nil, []string{"the case wants close, Envoy says refused (deny by default)"}},
		"wanted: handshake-failure": {head + toHTTP(intruder, "want: handshake-failure"), nil, []string{"the case wants handshake-failure, Envoy says refused (deny by default)"}},
		"wanted: deny of plaintext": {head + toTCP("plaintext", "want: deny"), nil, []string{"the case wants deny, Envoy says handshake failed"}},
		"wanted: another policy":    {head + toHTTP(frontend, "want: allow, by: default"), nil, []string{"the case wants it decided by default, Envoy names " + friends}},
		"wanted: a shadow":          {head + toHTTP(frontend, "want: allow, shadow: allow"), nil, []string{"the case wants shadow allow, Envoy says none"}},
		"wanted: no shadow":         {shadowed + toHTTP(frontend, "want: allow, shadow: none"), nil, []string{"the case wants shadow none, Envoy says deny"}},
		"wanted: another shadow": {shadowed + toHTTP(frontend, "want: allow, shadowBy: default"), nil, []string{
			"the case wants the shadow decided by default, Envoy names " + friends,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkProblems(t, Runner{Harness: sharedEnvoy.Get(t), Compiler: tt.compiler}, tt.text, tt.want)
		})
	}
}

// renameAll gives every verdict and every verdict of the shadow a name of its own.
func renameAll(p *policy.Program) {
	for _, gates := range [][]policy.Gate{p.Gates, p.Shadows} {
		for i := range gates {
			for j := range gates[i].Rules {
				gates[i].Rules[j].Origin = "other-policy"
			}
		}
	}
}

// With AnyNames the decisions are compared, and the names are not.
func TestAnyNames(t *testing.T) {
	t.Parallel()
	const asked = "requests: [{from: " + frontend + ", to: backend/http-port, want: allow, by: " + friends + ", shadow: deny, shadowBy: " + friends + "}]\n"
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		any      bool
		want     []string
	}{
		"compared": {shadowed + asked, altered(renameAll), false, []string{
			"the policies say allow by " + friends + ", Envoy says served (allow by other-policy)",
			"the shadow should say deny by " + friends + ", Envoy's says deny by other-policy",
			"the case wants it decided by " + friends + ", Envoy names other-policy",
			"the case wants the shadow decided by " + friends + ", Envoy names other-policy",
		}},
		"any": {shadowed + asked, altered(renameAll), true, nil},
		"any, and allowed instead": {head + "requests: [{from: " + intruder + ", to: backend/http-port, want: deny}]\n", AllowEverything, true, []string{
			"the case wants deny, Envoy says served (allow by default)",
			"the policies say deny by default, Envoy says served (allow by default)",
		}},
		"any, and another shadow": {shadowed + asked, altered(func(p *policy.Program) { p.Shadows = p.Gates }), true, []string{
			"the shadow should say deny by " + friends + ", Envoy's says allow by " + friends,
			"the case wants shadow deny, Envoy says allow",
		}},
		"any, and no shadow": {shadowed + asked, altered(func(p *policy.Program) { p.Shadows = nil }), true, []string{
			"a shadow should run: true, a shadow ran: false",
			"the case wants shadow deny, Envoy says none",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkProblems(t, Runner{Harness: sharedEnvoy.Get(t), Compiler: tt.compiler, AnyNames: tt.any}, tt.text, tt.want)
		})
	}
}

// In network a policy of the network level lets the frontend into the backend. No policy
// selects the open workload, so every caller gets in there.
const network = `
case: friends of the network
workloads:
  - {name: backend, labels: {app: backend}, inbounds: [{name: http-port, port: 8080, mtls: permissive}, {name: tcp-port, port: 5432, protocol: tcp}]}
  - {name: open, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}
options: {pathNormalization: {escapedSlashes: reject}}
policies:
  - apiVersion: gateway.networking.x-k8s.io/v1alpha1
    kind: XAuthorizationPolicy
    metadata: {name: friends}
    spec:
      targetRefs: [{kind: Pod, selector: {matchLabels: {app: backend}}}]
      action: ALLOW
      enforcementLevel: Network
      rules: [{sources: [{type: ServiceAccount, serviceAccount: {name: frontend}}]}]
`

// TestProblemsOnTheNetworkLevel has an HTTP inbound whose connections are judged, and one
// without a filter.
func TestProblemsOnTheNetworkLevel(t *testing.T) {
	t.Parallel()
	ask := func(from, to, more string) string {
		return network + "requests: [{from: " + from + ", to: " + to + ", " + more + "}]"
	}
	everybody := altered(func(p *policy.Program) {
		*p = policy.Program{Gates: []policy.Gate{{Form: policy.Named, Rules: []policy.Rule{{Verdict: policy.Verdict{Effect: policy.Allow, Origin: "all"}, When: policy.Always}}}}}
	})
	raise := altered(func(p *policy.Program) {
		if len(p.Gates) > 0 {
			p.Gates[0].Layer = policy.L7
		}
	})
	onL7 := CompilerFunc(func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		if in.Protocol == policy.TCP {
			return CompileOne(ctx, Reference, in, policies, opts)
		}
		return CompileOne(ctx, raise, in, policies, opts)
	})
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		want     []string
	}{
		"allow on http":                 {ask(frontend, "backend/http-port", "want: allow, by: default/friends/000"), nil, nil},
		"allow on tcp":                  {ask(frontend, "backend/tcp-port", "want: allow, by: default/friends/000"), nil, nil},
		"close on http":                 {ask(intruder, "backend/http-port", `want: close, by: ""`), nil, nil},
		"close comes before 400":        {ask(intruder, "backend/http-port", "path: /a%2fb, want: close"), nil, nil},
		"400 behind an allow":           {ask(frontend, "backend/http-port", "path: /a%2fb, want: 400"), nil, nil},
		"close of plaintext":            {ask("plaintext", "backend/http-port", `want: close, by: ""`), nil, nil},
		"plaintext on a strict inbound": {ask("plaintext", "backend/tcp-port", "want: handshake-failure"), nil, nil},
		"no policy judges http":         {ask(intruder, "open/http-port", `want: allow, by: ""`), nil, nil},
		"no policy judges tcp":          {ask(intruder, "open/tcp-port", `want: allow, by: ""`), nil, nil},

		"no filter where one should be": {ask(intruder, "backend/http-port", "want: close"), altered(func(p *policy.Program) { *p = policy.Program{} }), []string{
			"the case wants close, Envoy says served",
			"the policies say deny, Envoy says served",
		}},
		"a filter where none should be": {ask(intruder, "open/http-port", "want: allow"), everybody, []string{
			"the policies say allow, Envoy says served (allow by all)",
		}},
		"plaintext that is let in": {ask("plaintext", "backend/http-port", "want: close"), everybody, []string{
			"the case wants close, Envoy says served (allow by all)",
			"the policies say deny, Envoy says served (allow by all)",
		}},
		"a 403 for a closed connection": {ask(intruder, "backend/http-port", "want: close"), onL7, []string{
			"the case wants close, Envoy says refused (deny)",
			"the refusal should come from an L4 filter, Envoy refused on L7",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkProblems(t, Runner{Harness: sharedEnvoy.Get(t), Compiler: tt.compiler}, tt.text, tt.want)
		})
	}
}

// refuser refuses all policies.
var refuser Compiler = CompilerFunc(func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
	return xds.Filters{}, errors.New("no")
})

// outOfOrder is an error of a compiler that has refused nothing.
type outOfOrder struct{}

func (outOfOrder) Error() string { return "default.allow[0]: out of order" }
func (outOfOrder) Broken() bool  { return true }

// Refusals are negative controls too: a compiler that takes everything passes no case
// that wants one, and a compiler that refuses everything passes no other case.
func TestNegativeControlsOfRefusals(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	var refused []cases.Case
	for _, c := range all {
		if c.ExpectError != "" {
			refused = append(refused, c)
		}
	}
	for _, r := range (Runner{Harness: sharedEnvoy.Get(t)}).Run(t.Context(), refused...) {
		if !r.Passed() {
			t.Errorf("%s: meshproof's own: %v", r.Case.Place, r.Err)
		}
	}
	for _, r := range (Runner{Harness: sharedEnvoy.Get(t), Compiler: AllowEverything}).Run(t.Context(), refused...) {
		if len(r.Case.Routing) > 0 {
			continue // meshproof reads routes and timeouts itself: no compiler is asked about them
		}
		if r.Passed() || r.Fault || r.Err == nil || !strings.Contains(r.Err.Error(), "the compiler accepts policies that must be refused") {
			t.Errorf("%s: AllowEverything: passed %t, fault %t, error %v", r.Case.Place, r.Passed(), r.Fault, r.Err)
		}
	}
	for _, r := range (Runner{Harness: sharedEnvoy.Get(t), Compiler: refuser}).Run(t.Context(), all...) {
		if r.Passed() != (r.Case.ExpectError != "") || r.Fault {
			t.Errorf("%s: a compiler that refuses everything: passed %t, fault %t, error %v", r.Case.Place, r.Passed(), r.Fault, r.Err)
		}
	}
	if len(refused) < 20 || len(refused) == len(all) {
		t.Errorf("%d of %d cases want a refusal", len(refused), len(all))
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	const (
		policies = "policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}]\nexpectError: default.allow[0]\n"
		one      = "case: c\nworkloads: [{name: w, inbounds: [{port: 80}]}]\n" + policies
		two      = "case: c\nworkloads: [{name: w, inbounds: [{port: 80}, {port: 81}]}]\n" + policies
		none     = "case: c\nworkloads: [{name: w}]\n" + policies
	)
	asked := func(port uint16, err error) Compiler {
		return CompilerFunc(func(_ context.Context, in policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
			if in.Port == port {
				return xds.Filters{}, err
			}
			return xds.Filters{}, nil
		})
	}
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		fault    bool
		want     []string
	}{
		"meshproof's own":                    {one, nil, false, nil},
		"refused in other words":             {one, refuser, false, nil},
		"accepted":                           {one, AllowEverything, false, []string{"the compiler accepts policies that must be refused"}},
		"refused on one inbound of two":      {two, asked(81, errors.New("no")), false, nil},
		"accepted on both":                   {two, asked(82, errors.New("no")), false, []string{"the compiler accepts policies that must be refused"}},
		"without an inbound, refused":        {none, refuser, false, nil},
		"without an inbound, accepted":       {none, AllowEverything, false, []string{"the compiler accepts policies that must be refused"}},
		"out of order":                       {one, asked(80, outOfOrder{}), true, []string{"out of order"}},
		"accepted here, out of order there":  {two, asked(81, outOfOrder{}), true, []string{"out of order"}},
		"a text that meshproof does not say": {strings.Replace(one, "allow[0]\n", "allow[1]\n", 1), asked(80, errors.New("default.allow[1]")), false, []string{`an error that contains "default.allow[1]" was expected, but: `}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: sharedEnvoy.Get(t), Compiler: tt.compiler}.Case(t.Context(), casetest.Parse(t, tt.text))
			checkErr(t, r.Err, tt.want...)
			if r.Fault != tt.fault || r.Passed() != (tt.want == nil) {
				t.Errorf("fault %t, passed %t", r.Fault, r.Passed())
			}
		})
	}
}

// A case that was cut off before its compiler was asked has proven nothing.
func TestRefusalThatIsCutOff(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waits := CompilerFunc(func(ctx context.Context, _ policy.Inbound, _ []manifest.Document, _ language.Options) (xds.Filters, error) {
		return xds.Filters{}, context.Cause(ctx)
	})
	c := casetest.Parse(t, "case: c\nworkloads: [{name: w, inbounds: [{port: 80}]}]\npolicies: [{type: Nothing}]\nexpectError: unknown\n")
	if r := (Runner{Harness: sharedEnvoy.Get(t), Compiler: waits}).Case(ctx, c); r.Passed() || !r.Fault {
		t.Errorf("passed %t, fault %t: %v", r.Passed(), r.Fault, r.Err)
	}
}
