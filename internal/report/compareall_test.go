package report_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
)

func TestCompareAll(t *testing.T) {
	t.Parallel()
	run := func(envoy, runtime string, names ...string) report.Run {
		r := report.Run{Implementation: report.Implementation{Project: "p"}, Envoy: envoy, Runtime: runtime}
		for _, name := range names {
			r.Add(report.Case{Case: name, Passed: true})
		}
		return r
	}
	one, two, three := run("1.38.3", "process", "a"), run("1.39.3", "process", "a"), run("1.40.0", "process", "a")
	for name, tt := range map[string]struct {
		before, after []report.Run
		compared      []string
		unpaired      []string
		err           string
	}{
		"one with one, across versions": {[]report.Run{one}, []report.Run{three}, []string{"1.38.3/1.40.0"}, nil, ""},
		"several, by version": {
			[]report.Run{one, two}, []report.Run{two, three}, []string{"1.39.3/1.39.3"},
			[]string{"new: p on Envoy 1.40.0 (process)", "gone: p on Envoy 1.38.3 (process)"}, "",
		},
		"nothing belongs together":   {[]report.Run{one, two}, []report.Run{three}, nil, nil, "name a results file each"},
		"the runtime counts":         {[]report.Run{one, two}, []report.Run{run("1.38.3", "container"), run("1.39.3", "container")}, nil, nil, "no run of one side"},
		"two of one kind, before":    {[]report.Run{one, one}, []report.Run{one, two}, nil, nil, "two runs of p on Envoy 1.38.3 (process)"},
		"two of one kind, afterward": {[]report.Run{one, two}, []report.Run{one, one}, nil, nil, "two runs of p on Envoy 1.38.3 (process)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compared, unpaired, err := report.CompareAll(tt.before, tt.after)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			var got []string
			for _, c := range compared {
				got = append(got, strings.Fields(c.A.Label)[0]+"/"+strings.Fields(c.B.Label)[0])
			}
			for i, label := range got {
				got[i] = strings.ReplaceAll(label, ",", "")
			}
			if diff := cmp.Diff([][]string{tt.compared, tt.unpaired}, [][]string{got, unpaired}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
