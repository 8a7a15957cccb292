package renaming_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/policyset"
	"github.com/meshproof/meshproof/internal/policyset/renaming"
	"github.com/meshproof/meshproof/internal/policyset/tree"
)

// The objects of whole clusters are as old as they are on the day of the seed, and none of them is of the future: a compiler that is open for young
// objects is asked about some on any day.
func TestObjectsAreAsYoungAsTheDay(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{time.Date(2026, 12, 24, 9, 0, 0, 0, time.UTC), time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)} {
		young := 0
		for chosen := range uint32(12) {
			seed := renaming.Seed(now, chosen)
			const listed = 4 // the number of a set that is a whole cluster
			set := policyset.Draw(seed, listed, policyset.Istio, policyset.GatewayAPI)
			out, err := renaming.Rename(set, rand.New(rand.NewPCG(seed, listed)), listed, renaming.Changes{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			policies, _, err := tree.Values(out)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range policies {
				text, _ := tree.Metadata(p)["creationTimestamp"].(string)
				at, err := time.Parse(time.RFC3339, text)
				if err != nil || at.After(now) {
					t.Errorf("%s: made at %q: %v", now, text, err)
				}
				if at.After(now.AddDate(0, -1, 0)) {
					young++
				}
			}
		}
		if young == 0 {
			t.Errorf("%s: no object is of the last month", now)
		}
	}
}
