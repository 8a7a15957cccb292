package verify

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
)

// TestRunFailsAsVerification has verifications whose requests were all decided as specified. Their run has a case that failed exactly where
// something is not verified, and the JSON says the same: who reads one of them alone must not take it for more than the exit status says.
func TestRunFailsAsVerification(t *testing.T) {
	t.Parallel()
	const twice = "it leads past RBAC"
	for name, tt := range map[string]struct {
		change func(*Verification)
		failed []string
	}{
		"as it is":   {func(*Verification) {}, nil},
		"an inbound": {func(v *Verification) { v.notVerified(OtherJudges, "a", twice) }, []string{"not verified: a"}},
		"an inbound for two reasons, one of them told twice": {func(v *Verification) {
			v.notVerified(OtherJudges, "a", twice)
			v.notVerified(OtherJudges, "a", twice)
			v.Unverified = append(v.Unverified, Unverified{Gap: NoPolicies, Inbound: "a"}, Unverified{Gap: NoListener, Inbound: "b"})
		}, []string{"not verified: a", "not verified: b"}},
		"no version":          {func(v *Verification) { v.guessed = true }, []string{"not verified: the Envoy"}},
		"another version":     {func(v *Verification) { v.sidecar.Envoy = "1.36.4" }, []string{"not verified: the Envoy"}},
		"a case that failed":  {func(v *Verification) { v.Report.Cases[0].Err = errors.New("e") }, []string{"the case"}},
		"nothing asked":       {func(v *Verification) { v.Report.Cases = nil }, []string{proof.WholeCase}},
		"warnings that count": {func(v *Verification) { v.Report.Warnings, v.Report.Strict = []string{"w"}, true }, []string{proof.WholeCase}},
		"a finding alone":     {func(v *Verification) { v.Findings = []Finding{{Fact: Unguarded}} }, nil},
	} {
		v := &Verification{}
		one := proof.Proven{Result: result.Case{}}
		one.Result.Case.Name = "the case"
		v.Report.Cases = []proof.Proven{one}
		v.SetEnvoy("1.40.0", "process", true, behavior.Set{})
		tt.change(v)
		var run report.Run
		v.AddTo(&run, report.Build)
		var failed []string
		for _, c := range run.Cases {
			if c.Failed() {
				failed = append(failed, c.Case)
			}
		}
		if got, want := strings.Join(failed, "; "), strings.Join(tt.failed, "; "); got != want || v.Holds() != (want == "") {
			t.Errorf("%s: it holds: %t, failed are %q, want %q", name, v.Holds(), got, want)
		}
		var form struct{ Holds bool }
		text, err := v.MarshalJSON()
		if err := errors.Join(err, json.Unmarshal(text, &form)); err != nil || form.Holds != v.Holds() {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
}
