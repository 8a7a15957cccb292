package mistake_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The requests that the cases of Istio state tell each mistake in a policy from the policy. The
// command mutate asks Envoy the same, with the mistakes outside of policies.
func TestIstioCasesShowTheMistakes(t *testing.T) {
	t.Parallel()
	all, missed := 0, 0
	ofTexts := map[mistake.Kind]int{}
	for _, c := range casetest.Stories(t) {
		if !slices.ContainsFunc(c.Policies, isOfIstio) || c.ExpectError != "" {
			continue
		}
		reading, err := verdict.Read(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range reading.Inbounds() {
			var asked []policy.Request
			for _, q := range c.Requests {
				if r, err := in.Seen(q); q.To == in.String() && in.Judges(q) && err == nil {
					asked = append(asked, r)
				}
			}
			for _, m := range mistake.Enumerate(in.Program.Program) {
				if m.Kind == mistake.WrongFilter || m.Program.Check() != nil {
					continue
				}
				shown := slices.ContainsFunc(asked, func(r policy.Request) bool { return m.Changes(in.Program.Program, r) })
				if m.Kind == mistake.CaseIgnored || m.Kind == mistake.DomainIgnored {
					// These can be made in each text. The cases state them of some, and proofs ask for each.
					if shown {
						ofTexts[m.Kind]++
					}
					continue
				}
				if all++; shown {
					continue
				}
				if r, ok := m.Shown(in.TrustedSurface(), in.CanJudge, in.Program.Program); ok {
					missed++
					t.Logf("%s: %s: %s at %s: no request shows it, %+v does", c.Place, in, m.Kind, m.Where, r)
				}
			}
		}
	}
	if ofTexts[mistake.CaseIgnored] < 10 || ofTexts[mistake.DomainIgnored] < 10 {
		t.Errorf("mistakes in texts that cases show: %v", ofTexts)
	}
	// A new kind of mistake may go ahead of the cases by a few.
	if all < 3000 || missed*50 > all {
		t.Errorf("%d of %d mistakes are not shown", missed, all)
	}
}

func isOfIstio(doc manifest.Document) bool {
	return strings.HasPrefix(doc.Type().APIVersion, "security.istio.io/")
}
