package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// series returns cases that differ in their names, "0" to "n-1".
func series(t testing.TB, n int) []cases.Case {
	t.Helper()
	out := make([]cases.Case, n)
	for i := range out {
		out[i] = casetest.Parse(t, head+ask)
		out[i].Name = fmt.Sprint(i)
		// A compiler knows the case by the workload.
		for j := range out[i].Inbounds {
			out[i].Inbounds[j].Workload.Zone = out[i].Name
		}
	}
	return out
}

// callBefore returns a compiler that calls a function with the name of the case, and then the
// reference.
func callBefore(do func(ctx context.Context, name string)) Compiler {
	return CompilerFunc(func(ctx context.Context, in policy.Inbound, policies []manifest.Document, opts language.Options) (xds.Filters, error) {
		if in.Protocol == policy.HTTP {
			do(ctx, in.Workload.Zone)
		}
		return CompileOne(ctx, Reference, in, policies, opts)
	})
}

func names(results []result.Case) []string {
	var out []string
	for _, r := range results {
		out = append(out, r.Case.Name)
	}
	return out
}

func TestNegativeControls(t *testing.T) {
	t.Parallel()
	both := "requests:\n" +
		"  - {from: " + frontend + ", to: [backend/http-port, backend/tcp-port], want: allow}\n" +
		"  - {from: " + intruder + ", to: [backend/http-port, backend/tcp-port], want: deny}\n"
	for name, compiler := range map[string]Compiler{"nil": nil, "Reference": Reference, "AllowEverything": AllowEverything, "DenyEverything": DenyEverything} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, r := range (Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler}).Run(t.Context(), casetest.Parse(t, head+both), casetest.Parse(t, shadowed+both)) {
				right := name == "nil" || name == "Reference"
				if r.Err != nil || r.Fault || r.Passed() != right {
					t.Errorf("%s: error %v, fault %t, passed %t; want passed %t", r.Case.Name, r.Err, r.Fault, r.Passed(), right)
				}
				for _, q := range r.Requests {
					wrong := name == "AllowEverything" && q.Want == cases.Deny || name == "DenyEverything" && q.Want == cases.Allow
					if wrong && len(q.Problems) == 0 {
						t.Errorf("%s: %s from %s has no problem", r.Case.Name, q.Want, q.From.Name)
					}
				}
			}
		})
	}
}

// Cases are reported one at a time when they end, and returned in their order.
func TestDoneIsCalledInTheOrderOfTheEnds(t *testing.T) {
	t.Parallel()
	ended := map[string]chan struct{}{"0": make(chan struct{}), "1": make(chan struct{}), "2": make(chan struct{})}
	after := map[string]string{"0": "2", "2": "1"}
	compiler := callBefore(func(ctx context.Context, name string) {
		if other, ok := after[name]; ok {
			select {
			case <-ended[other]:
			case <-ctx.Done():
			}
		}
	})
	var done []result.Case
	results := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, Parallel: 3, Done: func(r result.Case) {
		done = append(done, r) // the race detector sees calls that overlap
		close(ended[r.Case.Name])
	}}.Run(t.Context(), series(t, 3)...)
	if diff := cmp.Diff([]string{"1", "2", "0"}, names(done)); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0", "1", "2"}, names(results)); diff != "" {
		t.Errorf("returned (-want +got):\n%s", diff)
	}
	for _, r := range results {
		if !r.Passed() {
			t.Errorf("case %s: %v", r.Case.Name, r.Err)
		}
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	for parallel, want := range map[int]int{-1: defaultParallel, 0: defaultParallel, 1: 1, 2: 2} {
		t.Run(fmt.Sprint(parallel), func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			running, most := 0, 0
			full := make(chan struct{})
			compiler := callBefore(func(ctx context.Context, _ string) {
				mu.Lock()
				running++
				if most = max(most, running); most == want && running == want {
					select {
					case <-full:
					default:
						close(full)
					}
				}
				mu.Unlock()
				// The first ones wait for each other.
				select {
				case <-full:
				case <-ctx.Done():
				}
			})
			ended := func(result.Case) { mu.Lock(); running--; mu.Unlock() }
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			results := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, Parallel: parallel, Done: ended}.Run(ctx, series(t, 6)...)
			if most != want || slices.ContainsFunc(results, func(r result.Case) bool { return !r.Passed() }) {
				t.Errorf("%d cases at once, want %d; results %+v", most, want, results)
			}
		})
	}
}

func TestRunNothing(t *testing.T) {
	t.Parallel()
	if got := (Runner{}).Run(t.Context()); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

// A failure of Envoy or of the machine is no verdict on a policy.
func TestFaults(t *testing.T) {
	t.Parallel()
	gone, err := harness.Start(t.Context(), harness.WithRuntime(envoy.Process))
	if err != nil {
		t.Fatal(err)
	}
	if err := gone.Close(); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		runner Runner
		ctx    context.Context
	}{
		"a harness that is gone": {Runner{Harness: gone}, t.Context()},
		"a cancelled context":    {Runner{Harness: sharedEnvoy.Get(t)}, cancelled},
	} {
		for _, r := range tt.runner.Run(tt.ctx, series(t, 5)...) {
			if r.Err == nil || !r.Fault || r.Passed() || len(r.Requests) > 0 {
				t.Errorf("%s: case %s: error %v, fault %t, %d requests; want a fault", name, r.Case.Name, r.Err, r.Fault, len(r.Requests))
			}
		}
		// Policies can be refused without Envoy.
		r := tt.runner.Case(tt.ctx, casetest.Parse(t, "case: c\nworkloads: [{name: w, inbounds: [{port: 80}]}]\npolicies: [{type: Nothing}]\nexpectError: unknown\n"))
		if !r.Passed() || r.Fault {
			t.Errorf("%s: an expected error of the policies: %v, fault %t", name, r.Err, r.Fault)
		}
	}
}

// An interrupted case leaves no mesh behind at any time. Otherwise Envoy runs out of ports.
func TestCasesThatAreCutOffGiveTheirPortsBack(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	many := head + "requests:\n" +
		"  - {from: [" + frontend + ", " + intruder + "], to: backend/http-port, path: [/1, /2, /3, /4, /5, /6, /7, /8], want: allow}\n"
	cut := 0
	for i := range 24 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(2*i)*time.Millisecond)
		if r := (Runner{Harness: h}).Case(ctx, casetest.Parse(t, many)); errors.Is(r.Err, context.DeadlineExceeded) {
			cut++
			if !r.Fault {
				t.Errorf("a case that was cut off is no fault: %v", r.Err)
			}
		}
		cancel()
	}
	if cut == 0 {
		t.Fatal("no case was cut off")
	}
	// There are as many meshes at the same time as a process has ports.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for i := range 16 {
		spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{spiffeid.RequireTrustDomainFromString("trust-domain.mesh")}}
		if _, err := h.NewMesh(ctx, spec); err != nil {
			t.Fatalf("mesh %d: %v", i, err)
		}
	}
}

// readings reads the policies of cases that are not refused.
func readings(t *testing.T, cs []cases.Case) []*verdict.Reading {
	t.Helper()
	var out []*verdict.Reading
	for _, c := range cs {
		if reading, err := verdict.Read(c); err == nil {
			out = append(out, reading)
		}
	}
	return out
}

// outcome is the result of a case without the parts that differ from run to run.
type outcome struct {
	Name, Err, Skipped string
	Passed, Fault      bool
	Counters           any
	Problems           [][]string
	Findings           []any
}

func outcomes(results []result.Case) []outcome {
	var out []outcome
	for _, r := range results {
		o := outcome{Name: r.Case.Name, Skipped: r.Skipped, Passed: r.Passed(), Fault: r.Fault, Counters: r.Counters}
		if r.Err != nil {
			o.Err = r.Err.Error()
		}
		for _, q := range r.Requests {
			o.Problems = append(o.Problems, q.ProblemTexts())
			o.Findings = append(o.Findings, q.Finding)
		}
		out = append(out, o)
	}
	return out
}

// The built-in cases have the same results together and one by one, with a right compiler
// and with a wrong one. With -short there are ten cases.
func TestTogetherIsAsAlone(t *testing.T) {
	t.Parallel()
	number := 80
	if testing.Short() {
		number = 10
	}
	all := casetest.Stories(t)
	var small []cases.Case
	for _, c := range all {
		if len(c.Requests) < 40 {
			small = append(small, c)
		}
	}
	read := readings(t, small)
	read = read[:min(len(read), number)]
	for name, compiler := range map[string]Compiler{"reference": Reference, "allow everything": AllowEverything} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: sharedEnvoy.Get(t), Compiler: compiler, Kept: true}
			alone, together := outcomes(r.Readings(t.Context(), read...)), outcomes(r.Together(t.Context(), read...))
			if diff := cmp.Diff(alone, together); diff != "" || len(together) < number {
				t.Errorf("%d cases (-alone +together):\n%s", len(together), diff)
			}
		})
	}
}

// TestAddressesStandTogether runs cases together whose policies ask for the address of the
// workload. Beside other cases a workload usually gets another address.
func TestAddressesStandTogether(t *testing.T) {
	t.Parallel()
	const text = `
workloads: [{name: db, ip: 10.9.0.5, inbounds: [{port: 8080, protocol: http}]}]
policies:
  - apiVersion: security.istio.io/v1
    kind: AuthorizationPolicy
    metadata: {name: databases, namespace: default}
    spec: {action: %s, rules: [{when: [{key: destination.ip, values: [10.9.0.0/16]}]}]}
requests: [{from: spiffe://trust-domain.mesh/ns/web/sa/x, to: db/8080, want: %s}]
`
	allow := casetest.Parse(t, "case: allow\n"+fmt.Sprintf(text, "ALLOW", "allow"))
	deny := casetest.Parse(t, "case: deny\n"+fmt.Sprintf(text, "DENY", "deny"))
	for _, r := range (Runner{Harness: sharedEnvoy.Get(t)}).Together(t.Context(), readings(t, []cases.Case{allow, deny, allow})...) {
		if !r.Passed() || len(r.Requests) != 1 {
			t.Errorf("%s: %d requests, %q", r.Case.Name, len(r.Requests), r.Failures())
		}
	}
}

// Envoy refuses a push because of one case. Only that case has the error.
func TestTogetherTellsWhatEnvoyRefuses(t *testing.T) {
	t.Parallel()
	ask := func(to, more string) string {
		return "requests: [{from: " + frontend + ", to: " + to + ", want: allow}]\n" + more
	}
	good, bad := casetest.Parse(t, grpc+ask("backend/grpc-port", "")), casetest.Parse(t, head+ask("backend/tcp-port", ""))
	for i, r := range (Runner{Harness: sharedEnvoy.Get(t), Compiler: spoilt}).Together(t.Context(), readings(t, []cases.Case{good, bad, good})...) {
		if refused := i == 1; errors.Is(r.Err, xds.ErrNACK) != refused || r.Fault || !refused && len(r.Requests) != 1 {
			t.Errorf("case %d: fault %t, %d requests: %v", i, r.Fault, len(r.Requests), r.Err)
		}
	}
}

// The policies of a case are parsed once for all its inbounds.
func TestPoliciesAreParsedOnce(t *testing.T) {
	t.Parallel()
	parsed := 0
	r := Runner{Harness: sharedEnvoy.Get(t), Read: func(c cases.Case) (*verdict.Reading, error) {
		parsed++
		return verdict.Read(c)
	}}
	if got := r.Case(t.Context(), casetest.Parse(t, head+ask)); !got.Passed() || len(got.Case.Inbounds) != 2 || parsed != 1 {
		t.Errorf("passed: %t, %d inbounds, parsed %d times: %v", got.Passed(), len(got.Case.Inbounds), parsed, got.Err)
	}
	// What was read before is not read again.
	reading, err := verdict.Read(casetest.Parse(t, head+ask))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Reading(t.Context(), reading); !got.Passed() || parsed != 1 {
		t.Errorf("passed: %t, parsed %d times", got.Passed(), parsed)
	}
	// The reference compiler takes what was parsed: it does not see the documents.
	in := Input{Inbounds: policyInbounds(reading.Case), Options: reading.Case.Options, Parsed: reading.Set()}
	in.Policies = []manifest.Document{{}}
	if filters, err := Reference.Compile(context.Background(), in); err != nil || len(filters) != 2 {
		t.Errorf("%d filters: %v", len(filters), err)
	}
	in.Parsed = nil
	if _, err := Reference.Compile(context.Background(), in); err == nil {
		t.Error("documents that are no policies compile")
	}
}

// Callers with equal certificates of one signer share a credential. Their names may differ.
func TestCredentialsAreKeyedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, `
case: callers
trustDomains: [trust-domain.mesh, other.mesh]
workloads: [{name: backend, inbounds: [{name: tcp-port, port: 5432, protocol: tcp}]}]
callers:
  one: {uris: [`+frontend+`]}
  same: {uris: [`+frontend+`]}
  more: {uris: [`+frontend+`, `+intruder+`]}
  foreign: {uris: [`+frontend+`], signedBy: other.mesh}
policies: []
requests:
  - {from: [one, same, `+frontend+`, more], to: backend/tcp-port, want: deny}
  - {from: [foreign, plaintext], to: backend/tcp-port, want: handshake-failure}
`)
	r := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), c)
	if !r.Passed() {
		t.Fatal(strings.Join(r.Failures(), "\n"))
	}
	shown := map[any]string{}
	for _, q := range r.Requests {
		shown[q.Evidence.Call.Credential] += q.From.Name + " "
	}
	if len(shown) != 4 {
		t.Errorf("%d credentials: %v", len(shown), shown)
	}
}
