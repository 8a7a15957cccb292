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

// The page can be read without colours and backgrounds.
func TestPageInBlackAndWhite(t *testing.T) {
	t.Parallel()
	signs := map[string]status{}
	for _, s := range []status{passed, failed, notProven, skipped, notApplicable, absent} {
		if other, taken := signs[s.Sign()]; taken {
			t.Errorf("%q and %q have the sign %s", s, other, s.Sign())
		}
		signs[s.Sign()] = s
	}
	_, print, found := strings.Cut(string(style), "@media print")
	if !found {
		t.Fatal("there is no style for print")
	}
	for _, want := range []string{"--good: #fff;", "--bad: #fff;", "--gated: #fff;", ".m.failed, .t.wrong { outline: 2px solid;"} {
		if !strings.Contains(print, want) {
			t.Errorf("the style for print lacks %s", want)
		}
	}
}

// The contrast of text and background is at least 4.5 to 1 in both schemes, as WCAG 2.2 AA asks.
func TestPageContrast(t *testing.T) {
	t.Parallel()
	schemes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(style), -1)
	if len(schemes) != 3 {
		t.Fatalf("there are %d schemes, want light, dark and print", len(schemes))
	}
	for i, scheme := range schemes {
		colours := map[string]string{}
		for _, c := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]+)`).FindAllStringSubmatch(scheme[1], -1) {
			colours[c[1]] = c[2]
		}
		pairs := map[string][]string{"on-bad": {"bad"}, "link": {"back", "raised"}, "good": nil}
		for _, text := range []string{"text", "faint", "allow", "deny", "shadow", "other"} {
			pairs[text] = []string{"back", "raised", "gated"}
		}
		for _, drawn := range []string{"allow", "text", "deny", "shadow"} { // the last three are ticks and the edge of a picture
			pairs[drawn] = append(pairs[drawn], "good")
		}
		for text, backs := range pairs {
			for _, back := range backs {
				if ratio := contrast(t, colours[text], colours[back]); ratio < 4.5 {
					t.Errorf("scheme %d: %s on %s is %.2f to 1, want 4.5", i, text, back, ratio)
				}
			}
		}
	}
}

// The head of the page shows the measured figures of the run.
func TestPageMeasured(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/")))
	r.ClassesProven, r.MutationScore = &report.Classes{Proven: 57, Of: 57, Complete: true}, &report.Score{Killed: 41, Of: 42}
	v := newView([]report.Run{r})
	want := []fact{{Name: "Request classes proven", Text: "57 of 57"}, {Name: "Seeded faults found", Text: "41 of 42"}}
	if diff := cmp.Diff(want, v.Facts[len(v.Facts)-2:]); diff != "" {
		t.Error(diff)
	}
}

// timed is a case that took some milliseconds.
func timed(name string, milliseconds float64) report.Case {
	return reporttest.Changed(reporttest.NewCase(name, "s", "1", reporttest.Allowed("/")), func(c *report.Case) { c.Milliseconds = milliseconds })
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
