package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/envoy"
)

// The oracle follows what Envoy does, and not its version: runtime guards revert the fixes of
// the default release, and the cases of each behaviour follow.
func TestOracleFollowsTheProbe(t *testing.T) {
	plain := sharedEnvoy.Get(t)
	bin, err := envoy.Fetch(t.Context(), harness.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	reverted := filepath.Join(t.TempDir(), "envoy")
	const layer = `{"layered_runtime": {"layers": [{"name": "reverted", "static_layer": {"envoy.reloadable_features.strip_dotdot_segments_with_parameters": false, "envoy.reloadable_features.rbac_match_headers_individually": false, "envoy.reloadable_features.match_headers_individually": false, "envoy.reloadable_features.re2_use_latin1_mode": false, "envoy.reloadable_features.sanitize_upstream_stream_duration_header": false}}]}}`
	if err := os.WriteFile(reverted, fmt.Appendf(nil, "#!/bin/sh\nexec %q \"$@\" --config-yaml '%s'\n", bin, layer), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", reverted)
	h := harness.New(t, harness.WithRuntime(harness.Process))
	want := behavior.Set{}
	for _, b := range behavior.All {
		want = want.Change(b, false)
	}
	if h.Behavior() != want || h.Version() != harness.DefaultVersion {
		t.Fatalf("Envoy %s does %v", h.Version(), h.Behavior().Answers())
	}
	tried := 0
	for _, c := range casetest.Stories(t) {
		if len(c.Gate.Behaves) == 0 {
			continue
		}
		tried++
		fixed, r := c.Gate.Behaves[0].Fixed, Runner{Harness: h}.Case(t.Context(), c)
		if r.Failed() || r.NotApplicable != fixed {
			t.Errorf("%s: passed %t, skipped %q, %q", c.Name, r.Passed(), r.Skipped, r.Failures())
		}
		if r := (Runner{Harness: plain}).Case(t.Context(), c); r.Failed() || r.NotApplicable == fixed {
			t.Errorf("%s: passed %t, skipped %q, %q", c.Name, r.Passed(), r.Skipped, r.Failures())
		}
	}
	if tried < 2 {
		t.Errorf("%d cases tell the two Envoys apart", tried)
	}
}
