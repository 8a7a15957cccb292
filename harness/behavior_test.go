package harness

import (
	"testing"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/pin"
)

// The probes tell the releases apart. A release that is not listed has all fixes.
func TestBehaviorOfReleases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("downloads every release")
	}
	follows := behavior.Set{}.Change(behavior.StreamDuration, false)
	joined := follows.Change(behavior.DotParameters, false).Change(behavior.HeaderLines, false).Change(behavior.RegexBytes, false).Change(behavior.RouteLines, false)
	unfixed := map[string]behavior.Set{"1.36.4": joined, "1.37.0": joined, "1.38.3": joined.Change(behavior.HeaderLines, true), "1.39.3": follows}
	for _, version := range pin.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			if got := ownHarness(t, WithEnvoy(version)).Behavior(); got != unfixed[version] {
				t.Errorf("it is %v, want %v", got.Answers(), unfixed[version].Answers())
			}
		})
	}
}
