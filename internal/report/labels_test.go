package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	run := func(envoy string, changes ...func(*report.Run)) report.Run {
		r := reporttest.NewRun(envoy)
		for _, change := range changes {
			change(&r)
		}
		return r
	}
	container := func(r *report.Run) { r.Runtime = "container" }
	other := func(r *report.Run) { r.Implementation.Version = "2.14.0" }
	later := func(r *report.Run) { r.Date = r.Date.Add(time.Hour) }
	for name, tt := range map[string]struct {
		runs []report.Run
		want []string
	}{
		"none":               {nil, []string{}},
		"one":                {[]report.Run{run("1.40.0")}, []string{"1.40.0"}},
		"versions":           {[]report.Run{run("1.38.3"), run("1.40.0", later)}, []string{"1.38.3", "1.40.0"}},
		"runtimes":           {[]report.Run{run("1.40.0"), run("1.40.0", container)}, []string{"1.40.0 (process)", "1.40.0 (container)"}},
		"projects":           {[]report.Run{run("1.40.0"), run("1.40.0", other)}, []string{"1.40.0 (kuma 2.13.0)", "1.40.0 (kuma 2.14.0)"}},
		"both":               {[]report.Run{run("1.40.0"), run("1.40.0", other, container)}, []string{"1.40.0 (kuma 2.13.0, process)", "1.40.0 (kuma 2.14.0, container)"}},
		"shards":             {[]report.Run{run("1.40.0", func(r *report.Run) { r.Shard = "1/2" }), run("1.40.0")}, []string{"1.40.0 (shard 1/2)", "1.40.0"}},
		"dates, where alike": {[]report.Run{run("1.38.3"), run("1.40.0"), run("1.40.0", later)}, []string{"1.38.3", "1.40.0 (2026-11-21 18:00:00)", "1.40.0 (2026-11-21 19:00:00)"}},
		"alike":              {[]report.Run{run("1.40.0"), run("1.40.0")}, []string{"1.40.0 (2026-11-21 18:00:00)", "1.40.0 (2026-11-21 18:00:00) (2)"}},
		"made to look alike": {[]report.Run{run("1"), run("1"), run("1 (2026-11-21 18:00:00) (2)")}, []string{"1 (2026-11-21 18:00:00)", "1 (2026-11-21 18:00:00) (2)", "1 (2026-11-21 18:00:00) (2) (2)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, report.Labels(tt.runs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSlowestCases(t *testing.T) {
	t.Parallel()
	timed := func(name string, milliseconds float64) report.Case {
		return report.Case{Case: name, Milliseconds: milliseconds}
	}
	runs := []report.Run{
		reporttest.NewRun("1.38.3", timed("a", 100), timed("b", 2001), timed("c", 2000)),
		reporttest.NewRun("1.40.0", timed("a", 300), timed("b", 9000), timed("c", 300)),
	}
	for most, want := range map[int][]string{
		0: {"1.40.0 b 9s", "1.38.3 b 2.001s"},
		1: {"1.40.0 b 9s", "1.38.3 b 2.001s"},
		4: {"1.40.0 b 9s", "1.38.3 b 2.001s", "1.38.3 c 2s", "1.40.0 a 300ms"},
		9: {"1.40.0 b 9s", "1.38.3 b 2.001s", "1.38.3 c 2s", "1.40.0 a 300ms", "1.40.0 c 300ms", "1.38.3 a 100ms"},
	} {
		var got []string
		for _, s := range report.Slow(runs, most) {
			got = append(got, fmt.Sprintf("%s %s %v", runs[s.Run].Envoy, s.Case.Case, s.Took))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d (-want +got):\n%s", most, diff)
		}
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0 ms", 114 * time.Millisecond: "114 ms", 999 * time.Millisecond: "999 ms", time.Second: "1.0 s", 2440 * time.Millisecond: "2.4 s",
	} {
		if got := report.Seconds(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestCaseIsInALevel(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		features []feature.Name
		profile  feature.Profile
		level    feature.Level
		counted  bool
	}{
		"no feature":              {nil, feature.KumaMTP, "", false},
		"core":                    {[]feature.Name{"MTPPath", "MTPShadow"}, feature.KumaMTP, feature.Core, true},
		"any extended":            {[]feature.Name{"MTPOption2", "MTPPath"}, feature.KumaMTP, feature.Extended, true},
		"extended of another":     {[]feature.Name{"MTPPath", "LegacyRoutes"}, feature.KumaMTP, feature.Core, true},
		"of another profile only": {[]feature.Name{"MTPPath"}, feature.GEP3779, "", false},
		"unknown":                 {[]feature.Name{"Nothing"}, feature.KumaMTP, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			level, in := report.Case{Features: tt.features}.Level(tt.profile)
			if level != tt.level || in != tt.counted {
				t.Errorf("Level(%s) = %s, %t, want %s, %t", tt.profile, level, in, tt.level, tt.counted)
			}
		})
	}
}

func TestCountOfCasesByLevel(t *testing.T) {
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
