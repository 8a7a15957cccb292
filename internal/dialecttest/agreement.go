package dialecttest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Agree returns what the program decides about a request. It fails the test where the plain evaluator says
// otherwise: the two read the same text.
func Agree(t interface{ Fatalf(string, ...any) }, text string, program policy.Program, evaluate func(policy.Request) policy.Decision, in policy.Inbound, request policy.Request) policy.Decision {
	want, got := evaluate(request), policy.Decide(program, request)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s %+v (-text +program):\n%s\n%s\n%s", in, request, diff, text, program)
	}
	return got
}

// Outcomes counts decisions by what is told of them.
type Outcomes map[string]int

// Want fails the test where an outcome was not seen: then the requests miss the policies. With -short rapid
// draws a fifth, which is too few for rare outcomes.
func (o Outcomes) Want(t *testing.T, outcomes ...string) {
	t.Helper()
	if testing.Short() {
		return
	}
	for _, outcome := range outcomes {
		if o[outcome] == 0 {
			t.Errorf("outcome %q was never seen: the requests miss the policies: %v", outcome, o)
		}
	}
}

// Owned asks a dialect which documents are its own.
func Owned(t *testing.T, owns func(manifest.Document) bool, want map[string]bool) {
	t.Helper()
	for yaml, want := range want {
		if got := owns(Documents(t, yaml)[0]); got != want {
			t.Errorf("Owns(%s) = %t, want %t", yaml, got, want)
		}
	}
}
