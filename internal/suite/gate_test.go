package suite

import (
	"cmp"
	"context"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
)

// The runner tests both claims of a version gate.
func TestGate(t *testing.T) {
	t.Parallel()
	const (
		passes = "requests: [{from: " + frontend + ", to: backend/http-port, want: allow}]\n"
		fails  = "requests: [{from: " + frontend + ", to: backend/http-port, want: deny}]\n"
		future = "envoy: {from: 99.0.0}\n"
		past   = "envoy: {before: 1.30.0}\n"
		now    = "envoy: {from: 1.30.0, before: 99.0.0}\n"
	)
	for name, tt := range map[string]struct {
		text            string
		passed          bool
		skipped, failed string
	}{
		"within its bounds it passes":     {passes + now, true, "", ""},
		"within its bounds it fails":      {fails + now, false, "", "the case wants deny"},
		"too early, and it fails":         {fails + future, false, "it holds from 99.0.0 only: ", ""},
		"too late, and it fails":          {fails + past, false, "it holds before 1.30.0 only: ", ""},
		"too early, and it passes: stale": {passes + future, false, "", "but holds from 99.0.0 only, it says: mend the bounds under envoy"},
		"too late, and it passes: stale":  {passes + past, false, "", "but holds before 1.30.0 only, it says: mend the bounds under envoy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: shared(t)}.Case(t.Context(), parse(t, head+tt.text))
			if r.Passed() != tt.passed || r.Failed() != (tt.failed != "") || r.NotApplicable != (tt.skipped != "") {
				t.Errorf("passed: %t, failed: %t, not applicable: %t", r.Passed(), r.Failed(), r.NotApplicable)
			}
			if !strings.HasPrefix(r.Skipped, tt.skipped) || tt.skipped == "" && r.Skipped != "" || !strings.Contains(cmp.Or(r.Failures()...), tt.failed) {
				t.Errorf("skipped %q, reason %q", r.Skipped, cmp.Or(r.Failures()...))
			}
			if tt.skipped != "" && !strings.Contains(r.Skipped, "the case wants deny") {
				t.Errorf("it does not say what fails: %q", r.Skipped)
			}
		})
	}
}

// A version gate does not excuse a case that was not run.
func TestGateExcusesNoFault(t *testing.T) {
	t.Parallel()
	c := parse(t, head+"requests: [{from: "+frontend+", to: backend/http-port, want: deny}]\n")
	c.Gate = cases.Gate{From: "99.0.0"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := (Runner{Harness: shared(t)}).Case(ctx, c); !r.Fault || r.Skipped != "" || !r.Failed() {
		t.Errorf("%+v", r)
	}
}

func TestRule(t *testing.T) {
	t.Parallel()
	r := Runner{Harness: shared(t)}.Case(t.Context(), parse(t, head+`
requests:
  - {from: `+frontend+`, to: backend/http-port, want: allow}
  - {from: `+intruder+`, to: backend/http-port, want: deny}
  - {from: plaintext, to: backend/http-port, want: handshake-failure}
`))
	want := []string{"allow by " + friends + " when identity ", "deny by default: no rule matches", ""}
	for i, q := range r.Requests {
		if !strings.HasPrefix(q.Rule, want[i]) || want[i] == "" && q.Rule != "" {
			t.Errorf("request %d: rule %q, want %q", i, q.Rule, want[i])
		}
	}
	if len(r.Requests) != len(want) {
		t.Fatalf("%d requests", len(r.Requests))
	}
}
