package counterexample_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/counterexample"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
)

// finder shrinks every failure, and writes into a folder.
func finder(folder string, fails func(cases.Case) bool) counterexample.Finder {
	return counterexample.Finder{
		Folder: folder,
		Run: func(_ context.Context, r *verdict.Reading) result.Case {
			out := result.Case{Case: r.Case, Requests: []result.Request{{Request: r.Case.Requests[0]}}}
			if fails(r.Case) {
				out.Err = errors.New("not decided as specified")
			}
			return out
		},
		Filters: func(context.Context, cases.Case) string { return "filters\n" },
		Again:   func(file string) string { return "run " + filepath.Base(file) },
		Looking: func() {},
	}
}

const twoInbounds = `case: two
workloads: [{name: backend, inbounds: [{name: one, port: 1, protocol: tcp}, {name: two, port: 2, protocol: tcp}]}]
policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/}}]}}}]
requests: [{from: [spiffe://trust-domain.mesh/a, spiffe://trust-domain.mesh/b], to: [backend/one, backend/two], want: allow}]
`

func suspects(t *testing.T) []counterexample.Suspect {
	t.Helper()
	all, err := cases.Parse("two.yaml", []byte(twoInbounds))
	if err != nil {
		t.Fatal(err)
	}
	s := counterexample.Suspect{Case: all[0]}
	for _, q := range all[0].Requests {
		s.Requests = append(s.Requests, result.Request{Request: q})
	}
	return []counterexample.Suspect{s}
}

// Requests of one cause give one counterexample for all callers.
func TestFindOneOfEachCause(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "counterexamples")
	found, err := finder(folder, func(c cases.Case) bool { return len(c.Policies) > 0 }).Find(t.Context(), suspects(t))
	if err != nil || len(found) != 2 {
		t.Fatalf("%d counterexamples, want one for each inbound: %v", len(found), err)
	}
	for i, c := range found {
		read, err := cases.Load(c.File)
		if err != nil || len(read) != 1 || len(read[0].Requests) != 1 || len(read[0].Inbounds) != 1 {
			t.Errorf("%s: %+v, %v", c.File, read, err)
		}
		var text strings.Builder
		c.WriteText(&text, false)
		for _, want := range []string{"counterexample: " + c.File, "    filters\n", "not decided as specified", "  again: run " + filepath.Base(c.File)} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("counterexample %d lacks %q:\n%s", i, want, &text)
			}
		}
	}
}

// Where nothing is found, no folder is made.
func TestFindNothing(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "counterexamples")
	found, err := finder(folder, func(cases.Case) bool { return false }).Find(t.Context(), nil)
	if len(found) > 0 || err != nil {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}
