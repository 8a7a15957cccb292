package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func page(t testing.TB, runs ...report.Run) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, runs); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// someRuns are the runs of [matrix], and a case where they agree.
func someRuns() []report.Run {
	runs := reporttest.Matrix()
	shared := reporttest.Changed(reporttest.NewCase("everybody agrees", "in common", "1", reporttest.Allowed("/"), reporttest.Denied("/admin")), func(c *report.Case) {
		c.Source, c.Warnings, c.Notes = "case: everybody agrees\nstory: in common\n", []string{"an allow hides another"}, []string{"Envoy names no policy"}
	})
	for i := range runs {
		runs[i].Add(shared)
	}
	return runs
}

// The golden file has the page without its style and script, which are files of their own.
func TestHTML(t *testing.T) {
	t.Parallel()
	asset := func(hash string) string { return strings.NewReplacer("+", "&#43;", "'", "&#39;").Replace(hash) }
	got := strings.NewReplacer(
		string(style), "page.css", string(script), "page.js",
		asset(sourceHash(string(style))), "page.css", asset(sourceHash(string(script))), "page.js",
	).Replace(page(t, someRuns()...))
	golden.Compare(t, "page-small.html", []byte(got))
}

// The content security policy admits the style and the script of the page, and nothing else.
func TestHTMLPolicy(t *testing.T) {
	t.Parallel()
	text := page(t, reporttest.Matrix()...)
	policy := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)[1])
	if !strings.HasPrefix(policy, "default-src 'none'; ") {
		t.Errorf("the policy is %s", policy)
	}
	for _, element := range []string{"style", "script"} {
		found := regexp.MustCompile(`(?s)<`+element+`[^>]*>(.*?)</`+element+`>`).FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("there are %d of <%s>, want 1", len(found), element)
		}
		sum := sha256.Sum256([]byte(found[0][1]))
		if want := element + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("want %s in %s", want, policy)
		}
	}
	for _, lack := range []string{`style="`, "onclick", "src=", "@import", "url("} {
		if strings.Contains(text, lack) {
			t.Errorf("the page has %s, which its policy refuses", lack)
		}
	}
}

// Every link within the page has a target, and every target has a name of its own.
func TestHTMLLinks(t *testing.T) {
	t.Parallel()
	text := page(t, append(reporttest.Matrix(), reporttest.NewRun("1.39.3", reporttest.NewCase("Matrix", "matrix", "1", reporttest.Allowed("/")), reporttest.NewCase("matrix", "cases", "1", reporttest.Allowed("/"))))...)
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if ids[id[1]] {
			t.Errorf("the ID %q appears twice", id[1])
		}
		ids[id[1]] = true
	}
	links := regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(text, -1)
	if len(links) == 0 {
		t.Error("there is no link")
	}
	for _, link := range links {
		if !ids[link[1]] {
			t.Errorf("#%s leads nowhere", link[1])
		}
	}
}

// No text of a run becomes markup, and none changes the direction of the text around it.
func TestHTMLHostile(t *testing.T) {
	t.Parallel()
	text := page(t, hostileRun(reporttest.Hostile), hostileRun(`</script></style></pre><img src=x onerror=alert(1)>"'`))
	for _, lack := range []string{"<img", "<script>alert", "\x1b", "\x00", "\u202e", "href=\"javascript", "ZgotmplZ"} {
		if strings.Contains(text, lack) {
			t.Errorf("the page has %q", lack)
		}
	}
	for _, want := range []string{"&lt;/script&gt;&lt;/style&gt;&lt;/pre&gt;&lt;img src=x onerror=alert(1)&gt;&#34;&#39;", `\u202e`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, "</script>"); n != 1 {
		t.Errorf("%d scripts end, want 1", n)
	}
}

// hostileRun has the given text in every field.
func hostileRun(text string) report.Run {
	q := reporttest.Leaked(text)
	q.From, q.To, q.Method, q.GRPC, q.Header, q.Want, q.Outcome = text, text, text, text, []string{text}, text, text
	q.By, q.Shadow, q.ShadowBy, q.Rule, q.Problems = text, text, text, text, []string{text}
	q.Evidence = report.Evidence{Caller: text, Log: text, Peer: []string{text}, Upstream: &report.Arrived{Method: text, Path: text, XFCC: text}}
	r := reporttest.NewRun(text, reporttest.Changed(reporttest.NewCase(text, text, text, q), func(c *report.Case) {
		c.Place, c.Error, c.Again, c.Source, c.Warnings, c.Notes = text, text, text, text, []string{text}, []string{text}
		c.Features, c.Counters = nil, map[string]report.Counters{text: {}}
	}), reporttest.Changed(reporttest.NewCase(text, text, text), reporttest.Skipped(text, true)))
	r.Meshproof, r.EnvoySHA256, r.Runtime, r.Shard = text, text, text, text
	r.Implementation = report.Implementation{Organization: text, Project: text, URL: "javascript:" + text, Version: text}
	return r
}

func TestHTMLIsDeterministic(t *testing.T) {
	t.Parallel()
	runs := reporttest.Matrix()
	for i := range 30 {
		runs[0].Cases[0].Counters[fmt.Sprint(i)] = report.Counters{Allowed: uint64(i)}
	}
	before, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	first := page(t, runs...)
	for range 5 {
		if diff := cmp.Diff(first, page(t, runs...)); diff != "" {
			t.Fatal(diff)
		}
	}
	after, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("the page changed its runs:\n%s", diff)
	}
}

// bigRuns has as many cases and requests as the suite, on five versions that agree.
func bigRuns() []report.Run {
	var cases []report.Case
	for i := range 294 {
		var requests []report.Request
		for j := range 9 {
			q := reporttest.Allowed(fmt.Sprintf("/of/%d/%d", i, j))
			q.From = fmt.Sprintf("spiffe://trust-domain.mesh/ns/default/sa/caller-%d", j/3)
			q.Path = fmt.Sprintf("/orders/%d", j%3)
			q.Rule = `allow by owner when identity starts with "spiffe://trust-domain.mesh/ns/default/" and path under "/orders" and method = "GET"`
			q.Evidence.Peer = []string{q.From}
			requests = append(requests, q)
		}
		cases = append(cases, reporttest.Changed(reporttest.NewCase(fmt.Sprintf("case %d does as it says in its name, which is long", i), fmt.Sprintf("story-%d", i/8), "1", requests...), func(c *report.Case) { c.Source = strings.Repeat("requests: [{from: frontend}]\n", 45) }))
	}
	var runs []report.Run
	for _, version := range []string{"1.36.4", "1.37.0", "1.38.3", "1.39.3", "1.40.0"} {
		runs = append(runs, reporttest.NewRun(version, cases...))
	}
	return runs
}

// The page has evidence once if runs agree on it, so the page stays small.
func TestHTMLSize(t *testing.T) {
	t.Parallel()
	runs := bigRuns()
	one, five := page(t, runs[0]), page(t, runs...)
	if limit := 3_000_000; len(five) > limit {
		t.Errorf("five versions are %d bytes, want at most %d", len(five), limit)
	}
	if limit := len(one) * 5 / 4; len(five) > limit {
		t.Errorf("five versions are %d bytes, one is %d: want at most a quarter more", len(five), len(one))
	}
	if got, want := len(regexp.MustCompile(`<li id="e[0-9a-f]{8}"`).FindAllString(five, -1)), 294*9; got != want {
		t.Errorf("there are %d pieces of evidence, want %d", got, want)
	}
}

func TestHTMLErrors(t *testing.T) {
	t.Parallel()
	if err := Write(&bytes.Buffer{}, nil); err == nil || !strings.HasPrefix(err.Error(), "report: write the page: there is no run") {
		t.Errorf("without a run: %v", err)
	}
	full := errors.New("the disk is full")
	if err := Write(refuser{full}, reporttest.Matrix()); !errors.Is(err, full) {
		t.Errorf("on a writer that fails: %v", err)
	}
}

type refuser struct{ err error }

func (r refuser) Write([]byte) (int, error) { return 0, r.err }

func BenchmarkHTML(b *testing.B) {
	runs := bigRuns()
	for b.Loop() {
		page(b, runs...)
	}
}

// contrast is the contrast ratio of two colours (WCAG 2.2, Contrast ratio).
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is the relative luminance of #rgb or #rrggbb (WCAG 2.2, Relative luminance).
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	hex := strings.TrimPrefix(colour, "#")
	if len(hex) == 3 {
		hex = strings.Join([]string{hex[:1], hex[:1], hex[1:2], hex[1:2], hex[2:], hex[2:]}, "")
	}
	rgb, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 6 {
		t.Fatalf("%q is no colour", colour)
	}
	linear := func(shift int) float64 {
		v := float64(rgb>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}
