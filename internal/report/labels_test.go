package report_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
