package renaming_test

import (
	"math/rand/v2"
	"testing"

	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/classes"
)

// New names change no decision: a set has about as many classes as with the usual names, and
// the same set is drawn again.
func TestRename(t *testing.T) {
	t.Parallel()
	differ, inbounds := 0, 0
	sets := uint64(200)
	if testing.Short() {
		sets = 20
	}
	for number := range sets {
		usual := policyset.Draw(7, number)
		if number%2 == 1 {
			usual = policyset.Draw(7, number, policyset.Cilium) // its labels have the most ways to be written
		}
		fresh, err := renaming.Rename(usual, rand.New(rand.NewPCG(7, number)), number, renaming.Changes{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := verdict.Read(usual)
		if err != nil {
			t.Fatal(err)
		}
		b, err := verdict.Read(fresh)
		if err != nil {
			t.Fatalf("%v\n%s", err, casewriter.YAML(fresh))
		}
		for i, in := range a.Inbounds() {
			of := func(in verdict.Inbound) int { return len(classes.Cut(in.Surface(), in.Program.Program).Classes) }
			inbounds++
			if x, y := of(in), of(b.Inbounds()[i]); x != y {
				differ++
			}
		}
		if one, again := policyset.DrawFresh(7, number), policyset.DrawFresh(7, number); string(casewriter.YAML(one)) != string(casewriter.YAML(again)) {
			t.Fatalf("set %d is drawn otherwise the second time", number)
		}
	}
	// Policies are ordered by their names, and identities by their bytes.
	if differ > inbounds/5 {
		t.Errorf("%d of %d inbounds have another number of classes", differ, inbounds)
	}
}
