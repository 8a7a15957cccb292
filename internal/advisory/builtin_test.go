package advisory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/casetest"
)

// The files that are read have all advisories of the built-in cases, with all of their cases.
func TestBuiltInHasEveryAdvisory(t *testing.T) {
	t.Parallel()
	places := func(known []advisory.Advisory) map[string][]string {
		out := map[string][]string{}
		for _, a := range known {
			for _, c := range a.Cases {
				out[a.ID] = append(out[a.ID], c.Place)
			}
		}
		return out
	}
	got, err := advisory.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(places(advisory.Known(casetest.Stories(t))), places(got)); diff != "" || len(got) == 0 {
		t.Errorf("advisories (-of all cases +read):\n%s", diff)
	}
}
