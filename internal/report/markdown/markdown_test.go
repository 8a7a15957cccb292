package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func Summary(t testing.TB, runs ...report.Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, runs); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	golden.Compare(t, "markdown.md", []byte(Summary(t, reporttest.Matrix()...)))
	golden.Compare(t, "markdown_one.md", []byte(Summary(t, reporttest.NewRun("1.40.0", reporttest.NewCase("a prefix ends at a segment", "path", "2", reporttest.Allowed("/metrics"))))))
}

func TestMarkdownVerdict(t *testing.T) {
	t.Parallel()
	good := reporttest.NewCase("good", "s", "1", reporttest.Allowed("/"))
	bad := reporttest.NewCase("bad", "s", "2", reporttest.Leaked("/"))
	fault := reporttest.Changed(reporttest.NewCase("fault", "s", "3"), func(c *report.Case) { c.Passed, c.Error, c.Fault = false, "e", true })
	gone := reporttest.Changed(reporttest.NewCase("gone", "s", "4"), reporttest.Skipped("why", true))
	shard := reporttest.NewRun("1.40.0", good)
	shard.Shard = "2/5"
	many := make([]report.Run, 12)
	for i := range many {
		many[i] = reporttest.NewRun(fmt.Sprintf("1.%d.0", i+30), good)
	}
	for want, runs := range map[string][]report.Run{
		"**Nothing was proven**: no case was run.":                                                      nil,
		"\n**Nothing was proven**: no case was run.\n":                                                  {reporttest.NewRun("1.40.0", gone)},
		"**Passed** on Envoy 1.40.0: of 1 case with 1 request, 1 passed.\n":                             {reporttest.NewRun("1.40.0", good)},
		"**Failed** on Envoy 1.38.3 and 1.40.0: of 3 cases with 3 requests, 2 passed, 1 failed.\n":      {reporttest.NewRun("1.38.3", good), reporttest.NewRun("1.40.0", good, bad)},
		"1 passed, 1 failed. In 1 case Envoy or the machine failed, which proves nothing either way.\n": {reporttest.NewRun("1.40.0", good, fault)},
		"1 passed. Only a part of a run: 1.40.0.\n":                                                     {shard},
		"1.36.0, 1.37.0, 1.38.0, 1.39.0 and 2 more: of 12 cases with 12 requests, 12 passed.\n":         many,
	} {
		if got := Summary(t, runs...); !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
}

func TestMarkdownLimits(t *testing.T) {
	t.Parallel()
	r := reporttest.NewRun("1.40.0")
	for i := range 25 {
		r.Add(reporttest.Changed(reporttest.NewCase(fmt.Sprintf("case %02d", i), "s", "1", reporttest.Leaked("/1"), reporttest.Leaked("/2"), reporttest.Leaked("/3"), reporttest.Leaked("/4"), reporttest.Leaked("/5"), reporttest.Leaked("/6"), reporttest.Leaked("/7")), func(c *report.Case) { c.Milliseconds = 1990 + float64(i) }))
	}
	got := Summary(t, r)
	if n := strings.Count(got, "**case "); n != mostFailures {
		t.Errorf("%d failures, want %d", n, mostFailures)
	}
	if n := strings.Count(got, "\n- and 2 more\n"); n != mostFailures {
		t.Errorf("%d failures with further problems, want %d", n, mostFailures)
	}
	if !strings.Contains(got, "\nand 5 more\n") {
		t.Error("the failures that are left out are not counted")
	}
	// Of those from 1990 to 2014 ms, fourteen took more than two seconds.
	_, slow, _ := strings.Cut(got, "### Slowest cases")
	if n := strings.Count(slow, "| **2.0 s** |"); n != 14 {
		t.Errorf("%d slow cases, want 14:\n%s", n, slow)
	}
}

// TestMarkdownHostile holds that no text becomes markup.
func TestMarkdownHostile(t *testing.T) {
	t.Parallel()
	bad := reporttest.Changed(reporttest.NewCase(reporttest.Hostile, reporttest.Hostile, "1", reporttest.Leaked(reporttest.Hostile)), func(c *report.Case) {
		c.Error, c.Again, c.Milliseconds = reporttest.Hostile, "run ```` "+reporttest.Hostile, 5000
	})
	text := Summary(t, reporttest.NewRun("1.38.3 "+reporttest.Hostile, bad), reporttest.NewRun("1.40.0", reporttest.Changed(bad, reporttest.Skipped(reporttest.Hostile, true)))) +
		Comparison(report.Compare(reporttest.NewRun(reporttest.Hostile, bad), reporttest.NewRun("1.40.0", reporttest.Changed(bad, reporttest.Skipped(reporttest.Hostile, true)))))
	prose := regexp.MustCompile("(?s)`````\n.*?\n`````\n").ReplaceAllString(text, "")
	if prose == text {
		t.Errorf("the fence of a command is not longer than that in it:\n%s", text)
	}
	for _, markup := range []string{"<script", "</td", "[e]", "&amp;", "http://", "*d*", "\x00", "\x1b", "\u202e", "`c`", "\\|", "_g_"} {
		if strings.Contains(prose, markup) {
			t.Errorf("%q stands in it:\n%s", markup, prose)
		}
	}
	for table := range strings.SplitSeq(prose, "\n\n") {
		lines := strings.Split(strings.TrimSpace(table), "\n")
		for _, line := range lines {
			if strings.HasPrefix(line, "|") && strings.Count(line, "|") != strings.Count(lines[0], "|") {
				t.Errorf("the row has another number of cells than the header:\n%s\n%s", lines[0], line)
			}
		}
	}
}

// TestMarkdownIsBounded holds that a long summary is cut to the size that GitHub accepts.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	long := strings.Repeat("|", 2000)
	wide := reporttest.NewRun(long)
	for i := range 200 {
		name := fmt.Sprint(i, long)
		wide.Add(reporttest.Changed(reporttest.NewCase(name, name, "1", reporttest.Leaked(long)), func(c *report.Case) { c.Milliseconds, c.Error, c.Again = 3000, long, long }))
	}
	high := reporttest.NewRun("1.40.0")
	for _, c := range wide.Cases {
		high.Add(reporttest.Changed(c, reporttest.Skipped(long, true)))
	}
	var many []report.Run
	for i := range 150 {
		many = append(many, reporttest.NewRun(fmt.Sprint(i, long), reporttest.Changed(reporttest.NewCase("a", "s", "1", reporttest.Leaked("/")), func(c *report.Case) { c.Milliseconds = 3000 })))
	}
	many[0].Cases[0].Requests[0].Outcome = "deny"
	for name, text := range map[string]string{
		"many cases": Summary(t, wide, high), "many runs": Summary(t, many...), "comparison": Comparison(report.Compare(wide, high)),
		"in one run only": Comparison(report.Compare(wide, reporttest.NewRun("1.40.0"))),
	} {
		if len(text) > most || !strings.Contains(text, " more\n") {
			t.Errorf("%s: %d bytes", name, len(text))
		}
	}
}

func TestEscapeKeepsTheText(t *testing.T) {
	t.Parallel()
	reference := regexp.MustCompile("&#([0-9]+);")
	property.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab\\`*_[]<>#|~&$@;19 .:/wé"))).Draw(t, "text")
		back := reference.ReplaceAllStringFunc(escape(text), func(s string) string {
			var r rune
			fmt.Sscanf(s, "&#%d;", &r)
			return string(r)
		})
		if back != text && len(text) <= maxText {
			t.Errorf("%q became %q", text, back)
		}
	})
}

func TestComparison(t *testing.T) {
	t.Parallel()
	runs := reporttest.Matrix()
	golden.Compare(t, "compare.md", []byte(Comparison(report.Compare(runs[0], runs[1]))))
	golden.Compare(t, "compare_same.md", []byte(Comparison(report.Compare(runs[0], runs[0]))))
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	if err := Write(reporttest.BrokenWriter{}, reporttest.Matrix()); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// Requests that a time limit ended are listed with the time of each run, a wrong one in bold.
func TestMarkdownOfRoutes(t *testing.T) {
	t.Parallel()
	wrong := reporttest.TimedOut(150)
	wrong.Passed, wrong.Problems = false, []string{"too early"}
	var b bytes.Buffer
	err := Write(&b, []report.Run{
		reporttest.NewRun("1.38.3", reporttest.NewRoutedCase("a", "s", reporttest.TimedOut(201), reporttest.Answered(81))),
		reporttest.NewRun("1.40.0", reporttest.NewRoutedCase("a", "s", wrong, reporttest.Answered(81))),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "### Requests that a time limit ended\n\n| case | request | ended by | route | backend | wanted | 1.38.3 | 1.40.0 |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n" +
		"| a | `MeshService/backend:80 GET /slow as web with x-version: 2, answered never` | `requestTimeout 200ms` | `kri_mhttpr_default__ns_slow_` | `backend/main` | 190 ms to 280 ms | 201 ms | **150 ms** |\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("want %s in\n%s", want, &b)
	}
}
