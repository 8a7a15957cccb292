package proof_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/policy/classes"
)

// TestEachPartOfAVerdictCounts has verdicts whose classes are all proven. An error, a request of no class
// that was decided otherwise, and a sampled cover keep each of them from holding.
func TestEachPartOfAVerdictCounts(t *testing.T) {
	t.Parallel()
	proven := func() proof.Verdict {
		var v proof.Verdict
		v.Inbounds = []proof.InboundVerdict{{Inbound: proof.Inbound{Cover: &classes.Cover{}}, Classes: []proof.Class{{Proven: true}}}}
		return v
	}
	if v := proven(); !v.Holds() {
		t.Fatal("it does not hold as it is")
	}
	for name, change := range map[string]func(*proof.Verdict){
		"an error, and no class":      func(v *proof.Verdict) { v.Err, v.Inbounds = errors.New("the counters moved by too much"), nil },
		"a request of no class":       func(v *proof.Verdict) { v.Disagreements = []result.Request{{}} },
		"a sampled cover":             func(v *proof.Verdict) { v.Inbounds[0].Inbound.Cover.Sampled = []string{"too many classes"} },
		"a class that is not proven":  func(v *proof.Verdict) { v.Inbounds[0].Classes[0].Proven = false },
		"a class more, without proof": func(v *proof.Verdict) { v.Inbounds[0].Classes = append(v.Inbounds[0].Classes, proof.Class{}) },
	} {
		v := proven()
		if change(&v); v.Holds() {
			t.Errorf("%s: it holds", name)
		}
	}
	if got := proof.Sentence(3, 3, false, "1.40.0"); !strings.HasSuffix(got, "; cover sampled") {
		t.Error(got)
	}
}
