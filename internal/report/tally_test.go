package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestLevel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		features []feature.Name
		profile  feature.Profile
		level    feature.Level
		in       bool
	}{
		"no feature":              {nil, feature.KumaMTP, 0, false},
		"core":                    {[]feature.Name{"MTPPath", "MTPShadow"}, feature.KumaMTP, feature.Core, true},
		"any extended":            {[]feature.Name{"MTPOption2", "MTPPath"}, feature.KumaMTP, feature.Extended, true},
		"extended of another":     {[]feature.Name{"MTPPath", "LegacyRoutes"}, feature.KumaMTP, feature.Core, true},
		"of another profile only": {[]feature.Name{"MTPPath"}, feature.GEP3779, 0, false},
		"unknown":                 {[]feature.Name{"Nothing"}, feature.KumaMTP, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			level, in := report.Case{Features: tt.features}.Level(tt.profile)
			if level != tt.level || in != tt.in {
				t.Errorf("Level(%s) = %s, %t, want %s, %t", tt.profile, level, in, tt.level, tt.in)
			}
		})
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	runs := reporttest.Matrix()
	for _, tt := range []struct {
		run     report.Run
		profile feature.Profile
		level   feature.Level
		want    report.Tally
		text    string
	}{
		{runs[0], feature.KumaMTP, feature.Core, report.Tally{Passed: 2, NotApplicable: 1}, "2 passed, 1 not applicable"},
		{runs[0], feature.KumaMTP, feature.Extended, report.Tally{Skipped: 1}, "1 skipped"},
		{runs[1], feature.KumaMTP, feature.Core, report.Tally{Passed: 1, Failed: 1}, "1 passed, 1 failed"},
		{runs[1], feature.GEP3779, feature.Core, report.Tally{}, "none"},
	} {
		got := tt.run.Tally(tt.profile, tt.level)
		if diff := cmp.Diff(tt.want, got); diff != "" || got.String() != tt.text {
			t.Errorf("%s %s %s: %s, want %s (-want +got):\n%s", tt.run.Envoy, tt.profile, tt.level, got, tt.text, diff)
		}
	}
}
