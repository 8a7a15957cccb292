package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/xds"
)

// mortal starts an Envoy, and returns a function that kills it.
func mortal(t *testing.T) (*harness.Harness, func()) {
	t.Helper()
	binary, err := envoy.Fetch(t.Context(), harness.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	wrapper, pidFile := filepath.Join(t.TempDir(), "envoy"), filepath.Join(t.TempDir(), "pid")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || echo $$ >%s\nexec %s \"$@\"\n", pidFile, binary)
	if err := os.WriteFile(wrapper, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", wrapper)
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	digits, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(digits)))
	if err != nil {
		t.Fatal(err)
	}
	return h, func() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
}

// killer is the reference compiler, which does something else before.
type killer func()

func (k killer) Compile(ctx context.Context, in Input) ([]xds.Filters, error) {
	k()
	return Reference.Compile(ctx, in)
}

// When Envoy has died, the other cases are not run, and one sentence says so.
func TestTheEndOfEnvoyEndsTheRun(t *testing.T) {
	h, kill := mortal(t)
	const before, all = 3, 20
	var compiled atomic.Int64
	runner := Runner{Harness: h, Parallel: 1, Compiler: killer(func() {
		if compiled.Add(1) == before+1 {
			kill()
		}
	})}
	done := 0
	runner.Done = func(result.Case) { done++ }
	var cs []cases.Case
	for range all {
		cs = append(cs, casetest.Parse(t, head+ask))
	}
	results := runner.Run(t.Context(), cs...)
	outage := Outage(results)
	want := fmt.Sprintf("cut short, because Envoy died after %d of %d cases: ", before, all)
	if !errors.Is(outage, envoy.ErrExited) || !strings.HasPrefix(outage.Error(), want) || strings.Contains(outage.Error(), "\n") {
		t.Errorf("the outage is %v, want one line that begins with %q", outage, want)
	}
	for i, r := range results {
		if r.Passed() != (i < before) || r.NotRun() == r.Passed() || r.Failed() || r.NotRun() && r.Skipped != "not run: "+outage.Error() {
			t.Errorf("case %d: passed %t, failed %t, skipped %q", i, r.Passed(), r.Failed(), r.Skipped)
		}
	}
	if n := compiled.Load(); n != before+1 || done != all {
		t.Errorf("%d cases were compiled, want %d; %d were reported, want %d", n, before+1, done, all)
	}
	if Outage(results[:before]) != nil {
		t.Error("an outage where all cases ran")
	}
}

// A case that waits for a bound of time takes no place of the others, and Begun is called when the
// last case has begun, not when it has ended.
func TestWaitingCasesTakeNoPlace(t *testing.T) {
	t.Parallel()
	cs := []cases.Case{{Name: "waits", RoutedRequests: make([]casefile.RoutedRequest, 1)}, {Name: "first"}, {Name: "last"}}
	lastEnded, begun := make(chan struct{}), make(chan struct{})
	r := Runner{Parallel: 1, Begun: func() { close(begun) }}
	results := r.runEach(t.Context(), cs, func(i int) result.Case {
		switch cs[i].Name {
		case "waits":
			<-lastEnded
			<-begun
		case "last":
			close(lastEnded)
		}
		return result.Case{Case: cs[i]}
	})
	for i, got := range results {
		if got.Case.Name != cs[i].Name {
			t.Errorf("result %d is that of %q", i, got.Case.Name)
		}
	}
}

// What is interrupted reads no further case.
func TestInterruptedCasesAreNotRead(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancelCause(t.Context())
	why := errors.New("interrupted")
	cs := []cases.Case{{Name: "first"}, {Name: "second"}, {Name: "third"}}
	ran := 0
	results := Runner{Parallel: 1}.runEach(ctx, cs, func(i int) result.Case {
		ran++
		interrupt(why)
		return result.Case{Case: cs[i]}
	})
	if ran != 1 {
		t.Errorf("%d cases ran, want the first alone", ran)
	}
	for _, got := range results[1:] {
		if !got.Fault || !errors.Is(got.Err, why) || got.Passed() {
			t.Errorf("%s: fault %t, passed %t, %v", got.Case.Name, got.Fault, got.Passed(), got.Err)
		}
	}
}
