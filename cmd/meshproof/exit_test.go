package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
)

func TestReport(t *testing.T) {
	t.Parallel()
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	differs := &exitError{code: exitDiffers}
	stuck := errors.New("envoy: end process 7: it does not end")
	for name, tt := range map[string]struct {
		ctx  context.Context
		err  error
		code int
		said string
	}{
		"success":               {t.Context(), nil, 0, ""},
		"reported already":      {t.Context(), differs, exitDiffers, ""},
		"bad input":             {t.Context(), errors.New("a.yaml:1: bad\nb.yaml:2: bad too"), exitUsage, "meshproof: a.yaml:1: bad\nmeshproof: b.yaml:2: bad too\n"},
		"steers a terminal":     {t.Context(), errors.New("a\x1b[31m.yaml: bad\u202e"), exitUsage, `meshproof: a\x1b[31m.yaml: bad\u202e` + "\n"},
		"machine":               {t.Context(), machineError(errors.New("no Docker")), exitMachine, "meshproof: no Docker\n"},
		"no failure":            {t.Context(), withFailure(differs, newEndError(nil)), exitDiffers, ""},
		"success, then stuck":   {t.Context(), withFailure(nil, newEndError(stuck)), exitMachine, "meshproof: envoy: end process 7: it does not end\n"},
		"differs, then stuck":   {t.Context(), withFailure(differs, newEndError(stuck)), exitMachine, "meshproof: envoy: end process 7: it does not end\n"},
		"bad input, then stuck": {t.Context(), withFailure(errors.New("bad"), newEndError(stuck)), exitMachine, "meshproof: bad\nmeshproof: envoy: end process 7: it does not end\n"},
		"finished in time":      {interrupted, nil, 0, ""},
		"interrupted":           {interrupted, machineError(context.Canceled), exitInterrupted, "meshproof: interrupted; everything that was started is gone\n"},
		"interrupted and stuck": {interrupted, withFailure(context.Canceled, newEndError(stuck)), exitInterrupted, "meshproof: interrupted, but not everything that was started is gone: envoy: end process 7: it does not end\n"},
	} {
		var said bytes.Buffer
		if code := exitStatus(tt.ctx, tt.err, &said); code != tt.code || said.String() != tt.said {
			t.Errorf("%s: exit status %d, %q; want %d, %q", name, code, said.String(), tt.code, tt.said)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestResultThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"--version"}, {"envoy", "list"}} {
		var said bytes.Buffer
		if code := execute(t.Context(), args, full{}, &said); code != exitMachine || said.String() != "meshproof: write the result: no space left\n" {
			t.Errorf("%q: exit status %d, %q", args, code, said.String())
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	rest := fmt.Sprintf(", %s %s/%s, Envoy %s unless told otherwise", runtime.Version(), runtime.GOOS, runtime.GOARCH, harness.DefaultVersion)
	for name, tt := range map[string]struct {
		info *debug.BuildInfo
		want string
	}{
		"release":        {&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		"working copy":   {&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
		"nothing stated": {&debug.BuildInfo{}, "(unknown build)"},
		"no module":      {nil, "(unknown build)"},
	} {
		if got := version(tt.info, tt.info != nil); got != tt.want+rest {
			t.Errorf("%s: %q, want %q", name, got, tt.want+rest)
		}
	}
}

// A failure of the machine has precedence over a wrong decision: nothing is proven.
func TestExitOfRun(t *testing.T) {
	t.Parallel()
	skipped := result.Case{Skipped: "it holds on another version", NotApplicable: true}
	passed, failed, fault := result.Case{}, result.Case{Err: errors.New("a warning is missing")}, result.Case{Err: errors.New("Envoy ended"), Fault: true}
	for _, tt := range []struct {
		results []result.Case
		want    int
	}{
		{nil, 0},
		{[]result.Case{passed}, 0},
		{[]result.Case{passed, failed}, exitDiffers},
		{[]result.Case{skipped, passed}, 0},
		{[]result.Case{skipped}, exitDiffers},
		{[]result.Case{fault, failed, passed}, exitMachine},
	} {
		if got := exitStatus(t.Context(), exitOf(summary.Count(tt.results...)), io.Discard); got != tt.want {
			t.Errorf("%d results: exit status %d, want %d", len(tt.results), got, tt.want)
		}
	}
}

// leftBehind lists the run directories in a temporary directory and, where there
// is a /proc, the processes that were given that directory.
func leftBehind(tmp string) []string {
	left, err := filepath.Glob(filepath.Join(tmp, "meshproof-envoy-*"))
	if err != nil {
		panic(err)
	}
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		panic(err)
	}
	for _, file := range environments {
		// A process that has ended meanwhile cannot be read.
		environment, err := os.ReadFile(file)
		if err == nil && slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(v []byte) bool { return string(v) == "TMPDIR="+tmp }) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "comm"))
			left = append(left, filepath.Dir(file)+" "+string(bytes.TrimSpace(name)))
		}
	}
	return left
}
