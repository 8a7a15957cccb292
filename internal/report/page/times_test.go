package page

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// timed is a case that took some milliseconds.
func timed(name string, milliseconds float64) report.Case {
	return reporttest.With(reporttest.NewCase(name, "s", "1", reporttest.Allowed("/")), func(c *report.Case) { c.Milliseconds = milliseconds })
}

// The table of times has every case, sorted by its longest run.
func TestPageTimes(t *testing.T) {
	t.Parallel()
	v := newView([]report.Run{
		reporttest.NewRun("1.38.3", timed("quick", 0.4), timed("slow there", 2500.6), timed("as quick", 0.2)),
		reporttest.NewRun("1.40.0", timed("quick", 99.5), timed("slow there", 12), timed("only here", 2000)),
	})
	var got []string
	for _, row := range v.Times {
		line := row.Case.Name + ":"
		for _, cell := range row.Cells {
			line += " " + cell.Text
			if cell.Slow {
				line += "!"
			}
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"slow there: 2,501! 12", "only here: – 2,000", "quick: 0 100", "as quick: 0 –"}, got); diff != "" {
		t.Error(diff)
	}
}

// The list of slow cases comes first, and has slow cases only.
func TestPageNamesSlowCases(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`<[^>]*>`)
	for name, tt := range map[string]struct {
		slow int
		want string
	}{
		"none": {0, ""},
		"one":  {1, "1 case is slower than 2 seconds: slow 0 3.0 s on 1.40.0"},
		"many": {7, "7 cases are slower than 2 seconds: slow 6 9.0 s on 1.40.0, slow 5 8.0 s on 1.40.0, slow 4 7.0 s on 1.40.0, slow 3 6.0 s on 1.40.0, slow 2 5.0 s on 1.40.0 and 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := []report.Case{timed("quick", 2000)}
			for i := range tt.slow {
				cases = append(cases, timed(fmt.Sprintf("slow %d", i), float64(3000+1000*i)))
			}
			text := page(t, reporttest.NewRun("1.38.3"), reporttest.NewRun("1.40.0", cases...))
			head, _, _ := strings.Cut(text, "</header>")
			var got string
			if _, rest, found := strings.Cut(head, `<p class="lead"><strong class="slow">`); found {
				got, _, _ = strings.Cut(rest, "</p>")
			}
			if diff := cmp.Diff(tt.want, tag.ReplaceAllString(got, "")); diff != "" {
				t.Error(diff)
			}
			if got := strings.Count(text, `<td class="n"><strong class="slow">`); got != tt.slow {
				t.Errorf("%d times are marked as slow, want %d", got, tt.slow)
			}
		})
	}
}
