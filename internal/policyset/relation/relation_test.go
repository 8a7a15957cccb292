package relation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/relation"
)

// A set is the same each time it is drawn: no choice is made in the order of a map.
func TestDrawIsAFunctionOfItsArguments(t *testing.T) {
	t.Parallel()
	sets, forms := uint64(240), []policyset.Form{policyset.Istio, policyset.Istio, policyset.Cilium, policyset.Linkerd, policyset.KumaOption1, policyset.KumaFrom, policyset.GatewayAPI}
	if testing.Short() {
		sets = 60
	}
	drawn := 0
	for number := range sets {
		of := policyset.Draw(4, number, forms[number%uint64(len(forms))])
		one, ok := relation.Draw(of, 4, number)
		again, okAgain := relation.Draw(of, 4, number)
		if ok != okAgain {
			t.Errorf("set %d is drawn once of two times", number)
		} else if diff := cmp.Diff(string(casewriter.YAML(one)), string(casewriter.YAML(again))); ok && diff != "" {
			t.Errorf("set %d (-first +second):\n%s", number, diff)
		}
		if ok {
			drawn++
		}
	}
	if drawn < int(sets)*3/4 {
		t.Errorf("of %d sets %d are drawn", sets, drawn)
	}
}
