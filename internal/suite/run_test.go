package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/result"
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
		out[i] = parse(t, head+ask)
		out[i].Name = fmt.Sprint(i)
		// A compiler knows the case by the workload.
		for j := range out[i].Inbounds {
			out[i].Inbounds[j].Workload.Zone = out[i].Name
		}
	}
	return out
}

// before returns a compiler that calls a function with the name of the case, and then the
// reference.
func before(do func(ctx context.Context, name string)) Compiler {
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
			for _, r := range (Runner{Harness: shared(t), Compiler: compiler}).Run(t.Context(), parse(t, head+both), parse(t, shadowed+both)) {
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
	compiler := before(func(ctx context.Context, name string) {
		if other, ok := after[name]; ok {
			select {
			case <-ended[other]:
			case <-ctx.Done():
			}
		}
	})
	var done []result.Case
	results := Runner{Harness: shared(t), Compiler: compiler, Parallel: 3, Done: func(r result.Case) {
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
			compiler := before(func(ctx context.Context, _ string) {
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
			results := Runner{Harness: shared(t), Compiler: compiler, Parallel: parallel, Done: ended}.Run(ctx, series(t, 6)...)
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
		"a cancelled context":    {Runner{Harness: shared(t)}, cancelled},
	} {
		for _, r := range tt.runner.Run(tt.ctx, series(t, 5)...) {
			if r.Err == nil || !r.Fault || r.Passed() || len(r.Requests) > 0 {
				t.Errorf("%s: case %s: error %v, fault %t, %d requests; want a fault", name, r.Case.Name, r.Err, r.Fault, len(r.Requests))
			}
		}
		// Policies can be refused without Envoy.
		r := tt.runner.Case(tt.ctx, parse(t, "case: c\nworkloads: [{name: w, inbounds: [{port: 80}]}]\npolicies: [{type: Nothing}]\nexpectError: unknown\n"))
		if !r.Passed() || r.Fault {
			t.Errorf("%s: an expected error of the policies: %v, fault %t", name, r.Err, r.Fault)
		}
	}
}

// An interrupted case leaves no mesh behind, at whatever time it is interrupted: else Envoy
// runs out of ports.
func TestCasesThatAreCutOffGiveTheirPortsBack(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	many := head + "requests:\n" +
		"  - {from: [" + frontend + ", " + intruder + "], to: backend/http-port, path: [/1, /2, /3, /4, /5, /6, /7, /8], want: allow}\n"
	cut := 0
	for i := range 24 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(2*i)*time.Millisecond)
		if r := (Runner{Harness: h}).Case(ctx, parse(t, many)); errors.Is(r.Err, context.DeadlineExceeded) {
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
