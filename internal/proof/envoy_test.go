package proof_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The nine user stories hold for every request. Without -short, so does the shortest case
// of every other story. `make prove` proves all cases.
func TestStoriesHold(t *testing.T) {
	t.Parallel()
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	shortest := map[string]int{}
	for i, c := range all {
		if best, ok := shortest[c.Story]; c.ExpectError == "" && len(c.Inbounds) > 0 && (!ok || len(c.Source) < len(all[best].Source)) {
			shortest[c.Story] = i
		}
	}
	var proofs []*proof.Proof
	var asked []cases.Case
	for i, c := range all {
		nine := strings.HasPrefix(c.Story, "mesh-operator-") || strings.HasPrefix(c.Story, "service-owner-")
		if testing.Short() && !nine {
			continue
		}
		if best, ok := shortest[c.Story]; c.ExpectError != "" || huge(c) || !nine && (!ok || best != i) {
			continue
		}
		p := plan(t, c)
		proofs, asked = append(proofs, p), append(asked, p.Case)
	}
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	classes := 0
	for i, r := range (suite.Runner{Harness: h, Kept: true}).Run(t.Context(), asked...) {
		v := proofs[i].Judge(r)
		proven, of := v.Counts()
		classes += of
		if !v.Holds() || !v.Complete() {
			t.Errorf("%s: %s: %d of %d classes, complete: %t: %v", r.Case.Place, r.Case.Name, proven, of, v.Complete(), v.Err)
		}
		for _, q := range v.Disagreements {
			t.Errorf("%s: %s %s %s as %s: %q", r.Case.Place, q.To, q.Method, q.Path, q.From.Name, q.Problems)
		}
	}
	least := 300
	if testing.Short() {
		least = 200
	}
	if classes < least {
		t.Errorf("%d classes in all", classes)
	}
}

// The same classes, asked on fresh connections and on kept ones, are decided alike.
func TestKeptConnectionsDecideAlike(t *testing.T) {
	t.Parallel()
	h := harness.New(t, harness.WithRuntime(envoy.Process))
	p := plan(t, parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]"))
	fresh := suite.Runner{Harness: h}.Case(t.Context(), p.Case)
	kept := suite.Runner{Harness: h, Kept: true}.Case(t.Context(), p.Case)
	if !p.Judge(fresh).Holds() || !p.Judge(kept).Holds() {
		t.Fatalf("%v; %v", fresh.Err, kept.Err)
	}
	for i := range fresh.Requests {
		if a, b := fresh.Requests[i], kept.Requests[i]; a.Finding != b.Finding {
			t.Errorf("%s as %s: %+v; kept: %+v", a.Path, a.From.Name, a.Finding, b.Finding)
		}
	}
}
