package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLabels(t *testing.T) {
	t.Parallel()
	run := func(envoy string, changes ...func(*Run)) Run {
		r := newRun(envoy)
		for _, change := range changes {
			change(&r)
		}
		return r
	}
	container := func(r *Run) { r.Runtime = "container" }
	other := func(r *Run) { r.Implementation.Version = "2.14.0" }
	later := func(r *Run) { r.Date = r.Date.Add(time.Hour) }
	for name, tt := range map[string]struct {
		runs []Run
		want []string
	}{
		"none":               {nil, []string{}},
		"one":                {[]Run{run("1.40.0")}, []string{"1.40.0"}},
		"versions":           {[]Run{run("1.38.3"), run("1.40.0", later)}, []string{"1.38.3", "1.40.0"}},
		"runtimes":           {[]Run{run("1.40.0"), run("1.40.0", container)}, []string{"1.40.0 (process)", "1.40.0 (container)"}},
		"projects":           {[]Run{run("1.40.0"), run("1.40.0", other)}, []string{"1.40.0 (kuma 2.13.0)", "1.40.0 (kuma 2.14.0)"}},
		"both":               {[]Run{run("1.40.0"), run("1.40.0", other, container)}, []string{"1.40.0 (kuma 2.13.0, process)", "1.40.0 (kuma 2.14.0, container)"}},
		"shards":             {[]Run{run("1.40.0", func(r *Run) { r.Shard = "1/2" }), run("1.40.0")}, []string{"1.40.0 (shard 1/2)", "1.40.0"}},
		"dates, where alike": {[]Run{run("1.38.3"), run("1.40.0"), run("1.40.0", later)}, []string{"1.38.3", "1.40.0 (2026-11-21 18:00:00)", "1.40.0 (2026-11-21 19:00:00)"}},
		"alike":              {[]Run{run("1.40.0"), run("1.40.0")}, []string{"1.40.0 (2026-11-21 18:00:00)", "1.40.0 (2026-11-21 18:00:00) (2)"}},
		"made to look alike": {[]Run{run("1"), run("1"), run("1 (2026-11-21 18:00:00) (2)")}, []string{"1 (2026-11-21 18:00:00)", "1 (2026-11-21 18:00:00) (2)", "1 (2026-11-21 18:00:00) (2) (2)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, Labels(tt.runs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
