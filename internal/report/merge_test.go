package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// TestMergeIsTheWholeRun divides the cases of a run into random shards, shuffles the
// shards, and expects that merging gives the run again.
func TestMergeIsTheWholeRun(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		whole := reporttest.NewRun("1.40.0")
		// The order of a folder's walk: a name of the path is compared as a whole, so
		// that kuma/a comes before kuma/a-b.yaml, and b-10 before b-2.
		for _, file := range []string{"gateway/ports", "kuma/a/b", "kuma/a-b", "kuma/a", "kuma/b-10", "kuma/b-2", "kuma.x/a"} {
			lines := rapid.SliceOfNDistinct(rapid.IntRange(1, 2000), 0, 4, rapid.ID[int]).Draw(t, file)
			slices.Sort(lines)
			for _, line := range lines {
				c := reporttest.NewCase(fmt.Sprintf("%s %d", file, line), "s", "1", reporttest.Allowed("/"))
				c.Place = fmt.Sprintf("cases/%s.yaml:%d", file, line)
				if rapid.Bool().Draw(t, "skipped") {
					c = reporttest.Changed(c, reporttest.Skipped("s", true))
				}
				whole.Add(c)
			}
		}
		n := rapid.IntRange(1, 6).Draw(t, "shards")
		shards := reporttest.Split(whole, n, func(int) int { return rapid.IntRange(0, n-1).Draw(t, "shard") })
		shards[0].Date, shards[n-1].Date = shards[n-1].Date, shards[0].Date
		seed := rapid.Uint64().Draw(t, "seed")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(n, func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
		got, err := report.Merge(shards...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]report.Run{whole}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestMergeMatrix(t *testing.T) {
	t.Parallel()
	runs := reporttest.Matrix()
	other := reporttest.NewRun("1.40.0")
	other.Runtime = "container"
	nine := reporttest.NewRun("1.9.0", reporttest.NewCase("z", "s", "1"), reporttest.NewCase("a", "s", "2"))
	ten := reporttest.NewRun("1.10.0")
	in := append(reporttest.Split(runs[1], 3, func(i int) int { return i % 3 }), ten, other, nine)
	in = append(in, reporttest.Split(runs[0], 2, func(i int) int { return (i + 1) % 2 })...)
	got, err := report.Merge(in...)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, r := range got {
		titles = append(titles, r.Envoy+" "+r.Runtime)
	}
	if diff := cmp.Diff([]string{"1.9.0 process", "1.10.0 process", "1.38.3 process", "1.40.0 container", "1.40.0 process"}, titles); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(nine, got[0]); diff != "" {
		t.Errorf("a whole run did not pass as it is (-want +got):\n%s", diff)
	}
	for i, want := range runs {
		if c := report.Compare(want, got[2+2*i]); !c.Empty() {
			t.Error(c.Text())
		}
	}
}

func TestMergeKeepsFigures(t *testing.T) {
	t.Parallel()
	shards := reporttest.Split(reporttest.NewRun("1.40.0"), 2, nil)
	shards[1].ClassesProven = &report.Classes{Proven: 3, Of: 4}
	shards[0].MutationScore, shards[1].MutationScore = &report.Score{Killed: 7, Of: 8}, &report.Score{Killed: 7, Of: 8}
	got, err := report.Merge(shards...)
	if err != nil {
		t.Fatal(err)
	}
	if c, m := got[0].ClassesProven, got[0].MutationScore; *c != (report.Classes{Proven: 3, Of: 4}) || *m != (report.Score{Killed: 7, Of: 8}) {
		t.Errorf("%v, %v", c, m)
	}
}

func TestMergeKeepsHashes(t *testing.T) {
	t.Parallel()
	shards := reporttest.Split(reporttest.NewRun("1.40.0", reporttest.NewCase("changed", "s", "1", reporttest.Allowed("/"))), 2, func(int) int { return 0 })
	shards[0].Cases[0].EvidenceSHA256 = "of another"
	got, err := report.Merge(shards...)
	if err != nil {
		t.Fatal(err)
	}
	if hash := got[0].Cases[0].EvidenceSHA256; hash != "of another" {
		t.Errorf("the case that was changed has the hash %s now", hash)
	}
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	whole := reporttest.Matrix()[0]
	shards := func(n int) []report.Run { return reporttest.Split(whole, n, func(i int) int { return i % n }) }
	for name, tt := range map[string]struct {
		runs []report.Run
		want string
	}{
		"one is missing":      {shards(3)[:2], "on Envoy 1.38.3 (process) under kuma 2.13.0: there is no shard 3/3:"},
		"two are missing":     {shards(5)[1:4], "there is no shard 1/5, 5/5:"},
		"nearly all missing":  {[]report.Run{{Envoy: "1.38.3", Shard: "2/10000"}}, "there is no shard 1/10000, 3/10000, 4/10000, 5/10000, 6/10000 and 9994 more:"},
		"one twice":           {append(shards(2), shards(2)[0]), "shard 1/2 is there twice"},
		"of two partitions":   {append(shards(3), shards(2)[1]), "shard 2/2 stands beside one of 3"},
		"no shard":            {[]report.Run{{Shard: "x"}}, `shard "x" is none`},
		"not quite a shard":   {[]report.Run{{Shard: "01/2"}}, `shard "01/2" is none`},
		"a case in common":    {append(reporttest.Split(whole, 2, func(int) int { return 0 })[:1], reporttest.Split(whole, 2, func(int) int { return 1 })[1]), `stands in shard 1/2 and in shard 2/2`},
		"a whole run twice":   {[]report.Run{whole, whole}, "the whole run is there more than once"},
		"a whole run besides": {append(shards(2), whole), "along with its shards"},
		"of other Envoys": {
			func() []report.Run { s := shards(2); s[1].EnvoySHA256 = "ffff"; return s }(),
			"there is no shard 2/2: one is there, but of another run: it differs in envoySHA256 (8aa1 here, ffff there)",
		},
		"of an Envoy that behaves otherwise": {
			func() []report.Run {
				s := shards(2)
				s[1].Behavior = map[string]string{"headerLines": "joined", "dotParameters": "kept"}
				return s
			}(),
			"there is no shard 2/2: one is there, but of another run: it differs in behavior (none here, dotParameters kept, headerLines joined there)",
		},
		"of other profiles": {
			func() []report.Run { s := shards(2); s[1].Profiles = []feature.Profile{feature.GEP3779}; return s }(),
			"there is no shard 1/2: one is there, but of another run: it differs in profiles ([GEP-3779] here, [KUMA-MTP GEP-3779] there)",
		},
		"of other names": {
			func() []report.Run { s := shards(2); s[1].AnyNames, s[1].Runtime = true, ""; return s }(),
			"there is no shard 2/2: one is there, but of another run: it differs in runtime (process here, none there), anyNames (false here, true there)",
		},
		"of another run, that differs more": {
			func() []report.Run {
				s := shards(2)
				s[1].Runtime = "container"
				far := s[1]
				far.Meshproof = "v0"
				return []report.Run{s[0], far, s[1]}
			}(),
			"there is no shard 2/2: one is there, but of another run: it differs in runtime (process here, container there)",
		},
		"a shard too many": {[]report.Run{{Shard: "1/10001"}}, `shard "1/10001": there are 10000 parts at most`},
		"figures that differ": {
			func() []report.Run {
				s := shards(2)
				s[0].ClassesProven, s[1].ClassesProven = &report.Classes{Of: 1}, &report.Classes{Of: 2}
				return s
			}(),
			"classesProven: two shards state {0 1 false} and {0 2 false}",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := report.Merge(tt.runs...); err == nil || !strings.Contains(err.Error(), tt.want) || got != nil {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestSplitPlace(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]struct {
		file string
		line int
	}{
		"a.yaml:12": {"a.yaml", 12}, "a:b.yaml:1": {"a:b.yaml", 1}, "a.yaml": {"a.yaml", 0}, "a:b": {"a:b", 0}, "": {"", 0},
		"a:99999999999999999999": {"a:99999999999999999999", 0},
	} {
		if file, line := report.SplitPlace(place); file != want.file || line != want.line {
			t.Errorf("%q: %q, %d", place, file, line)
		}
	}
}
