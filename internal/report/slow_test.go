package report_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestSlow(t *testing.T) {
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
