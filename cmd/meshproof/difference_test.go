package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// A change is shown on Envoy only where Envoy agreed, and why it could not be is told.
func TestEvidence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after  result.Case
		want   string
		told   string
		status int
	}{
		"as said":   {result.Case{Requests: []result.Request{{}}}, "; shown on Envoy 1.2.3", "✓ deny", 0},
		"otherwise": {result.Case{Requests: []result.Request{{Judgement: verdict.Judgement{Problems: []verdict.Problem{{Found: "served"}}}}}}, "; Envoy 1.2.3 decides otherwise, see above", "✗ deny", exitDiffers},
		"refused":   {result.Case{Err: errors.New("NACK")}, "; Envoy 1.2.3 decides otherwise, see above", "✗ x (new): NACK", exitDiffers},
		"no answer": {result.Case{Err: errors.New("gone"), Fault: true}, "; Envoy 1.2.3 gave no answer, see above", "✗ x (new): gone", exitMachine},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.after.Case.Name = "x (new)"
			change := proof.Change{Old: proof.Opinion{Decision: policy.Decision{Verdict: policy.Verdict{Effect: policy.Allow}}}, New: proof.Opinion{Reason: "deny"}}
			d := difference{asked: true, envoy: "1.2.3", all: []compared{{
				pair:   pair{recent: lab.Case{Case: cases.Case{Name: "x"}}},
				found:  []proof.Comparison{{Cover: classes.Of(classes.Surface{}, policy.Program{}), Changes: []proof.Change{change}}},
				before: &result.Case{Requests: []result.Request{{}}}, after: &tt.after,
			}}}
			var text strings.Builder
			d.writeText(&text, false)
			if !strings.HasSuffix(text.String(), tt.want+"\n") || !strings.Contains(text.String(), tt.told) {
				t.Errorf("%s", text.String())
			}
			status := 0
			if exit := (*exitError)(nil); errors.As(d.exit(false), &exit) {
				status = exit.code
			}
			if status != tt.status {
				t.Errorf("exit status %d, want %d", status, tt.status)
			}
		})
	}
}
