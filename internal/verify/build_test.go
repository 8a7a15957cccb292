package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/behavior"
)

// TestBuilds holds which Envoy may be asked for a build that is no release.
func TestBuilds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		runs, asked string
		named       bool
		finding     bool
		want        string
	}{
		"a release":                       {"1.40.0", "1.40.0", false, false, ""},
		"a build, and nothing named":      {"1.40.0-dev", "1.40.0", false, false, "--envoy 1.40.0 takes the release for it"},
		"a build, and its release":        {"1.40.0-dev", "1.40.0", true, true, ""},
		"a build, and another release":    {"1.40.0-dev", "1.39.3", true, false, "releases decide differently"},
		"a build of two labels":           {"1.40.0-dev-istio", "1.40.0", true, true, ""},
		"a longer number":                 {"1.40.01-dev", "1.40.0", true, false, "releases decide differently"},
		"a release, and another is named": {"1.40.0", "1.39.3", true, false, "releases decide differently"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := matchedSidecar(t, "", "../../examples/istio/policies")
			v.sidecar.Envoy = tt.runs
			v.SetEnvoy(tt.asked, "process", tt.named, behavior.Set{})
			found := strings.Join(v.unverified(v.Unverified), "\n")
			if tt.want == "" && found != "" || !strings.Contains(found, tt.want) {
				t.Errorf("%q, want %q", found, tt.want)
			}
			if got := slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Fact == BuildOfRelease }); got != tt.finding {
				t.Errorf("findings %q", lines(v.Findings))
			}
		})
	}
}

// TestListenersAlone has a dump of the listeners alone: nothing is verified, and the reason names the command that prints
// all.
func TestListenersAlone(t *testing.T) {
	t.Parallel()
	v := matchedSidecar(t, "", "../../examples/istio/policies", drop("0.configs.5"), drop("0.configs.4"), drop("0.configs.2"), drop("0.configs.1"), drop("0.configs.0"))
	if got := outcomeOf(v); got != unverified || !strings.Contains(strings.Join(lines(v.Unverified), "\n"), "istioctl proxy-config all -o json") {
		t.Errorf("%s: %q", got, lines(v.Unverified))
	}
}

// TestListenersWithoutDump has listeners as they stand in the example, without a dump around them. A compiler gives such ones too, and
// a finding says what nothing shows of a live sidecar.
func TestListenersWithoutDump(t *testing.T) {
	t.Parallel()
	alone := func(dump any) any {
		var out []any
		editAt(dump, "configs.0.dynamic_listeners", func(all any) any {
			for _, of := range all.([]any) {
				out = append(out, of.(map[string]any)["active_state"].(map[string]any)["listener"])
			}
			return all
		})
		return out
	}
	for name, tt := range map[string]struct {
		edits []edit
		want  bool
	}{"in a dump": {nil, false}, "without one": {[]edit{alone}, true}} {
		all, files := exampleCases(t)
		v := matchedDump(t, all, files, "", exampleDump(t), append([]edit{completed}, tt.edits...)...)
		v.SetEnvoy("1.40.0", "process", true, behavior.Set{})
		if got := slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Fact == NoDump }); got != tt.want {
			t.Errorf("%s: findings %q", name, lines(v.Findings))
		}
	}
}
