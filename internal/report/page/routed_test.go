package page

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/browsertest"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// routedRuns are two runs of a request that is ended, one that is answered, and one that the second
// run does not end in time.
func routedRuns() []report.Run {
	late := reporttest.TimedOut(285)
	late.Passed, late.Outcome, late.Cause, late.Limit, late.By, late.Place = false, "HTTP 504 with 24 bytes, whole", "sentinel", "", "", ""
	late.Problems = []string{"cause: the program says requestTimeout of 200ms, Envoy says sentinel"}
	ended := reporttest.NewRoutedCase("a timeout ends a request", "routes", reporttest.TimedOut(201), reporttest.Answered(81))
	return []report.Run{
		reporttest.NewRun("1.38.3", ended, reporttest.NewRoutedCase("a timeout is lost", "routes", reporttest.TimedOut(204))),
		reporttest.NewRun("1.40.0", reporttest.NewRoutedCase("a timeout ends a request", "routes", reporttest.TimedOut(207), reporttest.Answered(90)), reporttest.NewRoutedCase("a timeout is lost", "routes", late)),
	}
}

// A picture has the window, the sentinel, and a tick for each run. Its text says the same.
func TestPageRouted(t *testing.T) {
	t.Parallel()
	v := newView(routedRuns())
	cases := v.Profiles[0].Stories[0].Cases
	rows := cases[0].Groups[0].Routed
	wants := []struct {
		asked, inbound, took, wanted string
		picture                      picture
	}{
		{"GET /slow, x-version: 2", "backend/main", "201 ms to 207 ms in 2 runs", "190 ms to 280 ms", picture{
			180, "It ended after 201 ms on 1.38.3, 207 ms on 1.40.0; wanted: 190 ms to 280 ms", &span{"116.3", "55.1", "171.4"}, []tick{{"123.1", false}, {"126.7", false}},
		}},
		{"GET /", "one of backend/main, backend-v2/main", "81 ms to 90 ms in 2 runs", "", picture{
			180, "It ended after 81 ms on 1.38.3, 90 ms on 1.40.0", nil, []tick{{"49.6", false}, {"55.1", false}},
		}},
	}
	for i, want := range wants {
		r := rows[i]
		if diff := cmp.Diff([]any{want.asked, want.inbound, want.took, want.wanted}, []any{r.Asked, r.Inbound, r.Took, r.Wanted}); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.picture, r.Picture); diff != "" {
			t.Error(diff)
		}
	}
	if late := cases[1].Groups[1].Routed[0]; !late.Picture.Ticks[0].Missed || !late.Differs || late.Took != "285 ms" {
		t.Errorf("the late one is %+v", late)
	}
	if n := cases[0].Requests(); n != 2 {
		t.Errorf("the case has %d requests, want 2", n)
	}
	if len(v.Differs) != 1 || len(v.Differs[0].Rows) != 1 || v.Differs[0].Rows[0].Cells[1][0].Sign != "sentinel" {
		t.Errorf("what differs: %+v", v.Differs)
	}
}

// An open window reaches to the end of the picture, and a case without such requests has no picture.
func TestPageRoutedOpen(t *testing.T) {
	t.Parallel()
	open := reporttest.TimedOut(201)
	open.Window = &report.Window{From: 190}
	v := newView([]report.Run{reporttest.NewRun("1.40.0", reporttest.NewRoutedCase("a", "s", open))})
	if got, want := v.Profiles[0].Stories[0].Cases[0].Groups[0].Routed[0].Picture.Window, (&span{X: "155.8", Width: "24.2"}); *got != *want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !v.HasRouted() || newView(someRuns()).HasRouted() {
		t.Error("the legend belongs to pages with pictures")
	}
}

func TestPageRoutedHostile(t *testing.T) {
	t.Parallel()
	const text = `"/><script>alert(1)</script>`
	q := reporttest.TimedOut(1)
	q.From, q.To, q.Method, q.Path, q.GRPC, q.Header, q.Answer, q.Want, q.Outcome, q.Cause = text, text, text, text, text, []string{text}, text, text, text, text
	q.Route, q.Backends, q.Backend, q.Limit, q.By, q.Place, q.Verdict, q.Details, q.Problems = text, []string{text}, text, text, text, text, text, text, []string{text}
	q.Passed = false
	got := page(t, reporttest.NewRun("1.40.0", reporttest.NewRoutedCase(text, text, q)), reporttest.NewRun(text, reporttest.NewRoutedCase(text, text, reporttest.TimedOut(1))))
	if strings.Contains(got, "<script>alert") {
		t.Error("a text became markup")
	}
}

// The pictures have the colours of the page, which its reader chooses.
func TestPictureColours(t *testing.T) {
	t.Parallel()
	rules := regexp.MustCompile(`(?:stroke|fill): ([^;}]+)`).FindAllStringSubmatch(string(style), -1)
	if len(rules) < 5 {
		t.Fatalf("the style has %d colours of pictures", len(rules))
	}
	for _, rule := range rules {
		if !strings.HasPrefix(rule[1], "var(--") {
			t.Errorf("%s is no colour of the page", rule[0])
		}
	}
}

// A reader sees the tick within the window, and the list of what differs leads to the row.
func TestDriveRouted(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t, published(t, routedRuns()...))
	p.Click(`.differs td:last-child a.t.wrong`)
	p.Want(`document.querySelector("#a-timeout-is-lost").open`, "true")
	p.Want(`document.querySelector(location.hash).matches("#a-timeout-is-lost .routed tr")`, "true")
	p.Want(`document.querySelector("#a-timeout-is-lost .routed path.outside").closest("svg").querySelector("title").textContent`, "It ended after 285 ms on 1.40.0; wanted: 190 ms to 280 ms")
	p.Eval(`document.querySelector("#a-timeout-ends-a-request").open = true`)
	const svg = `document.querySelector("#a-timeout-ends-a-request .routed svg")`
	box := func(what string) string { return svg + `.querySelector("` + what + `").getBoundingClientRect()` }
	p.Want(`(() => { const w = `+box("rect.window")+`, e = `+box("path.edge")+`; return [...`+svg+`.querySelectorAll("path.tick")].every((t) => { const b = t.getBoundingClientRect(); return b.left > w.left && b.right < w.right && b.height > w.height; }) && Math.abs(e.left - w.right) < 3; })()`, "true")
	p.Want(`getComputedStyle(`+svg+`.querySelector("rect.window")).fill`, "rgb(234, 247, 237)")
	p.Want(`document.querySelectorAll("#cases .legend .key").length`, "3")
	p.Want(`document.documentElement.scrollWidth <= innerWidth`, "true")
}
