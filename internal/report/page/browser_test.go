package page

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/browsertest"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

// skipSlowPage leaves a test to make slow. Each test here starts a browser of its own;
// with -short a few of them open the page, press keys and click.
func skipSlowPage(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it starts a browser; other tests of this file do with -short too")
	}
}

// published writes a page as a CI job would, and returns its address.
func published(t *testing.T, runs ...report.Run) string {
	t.Helper()
	return address(t, page(t, runs...))
}

// address writes a text to a file of its own, and returns the file's address.
func address(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "index.html")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return "file://" + path
}

// anchor finds the evidence that a cell of the truth table leads to.
func anchor(t *testing.T, text, name, label string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, `id="`+name+`"`)
	cell := regexp.MustCompile(`href="#(e[0-9a-f]{8}(?:-\d+)?)" aria-label="` + label + `"`).FindStringSubmatch(rest)
	if !found || cell == nil {
		t.Fatalf("%s has no cell %q", name, label)
	}
	return cell[1]
}

func TestBrowserReadsThePage(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	runs := someRuns()
	at, text := published(t, runs...), page(t, runs...)
	leak := anchor(t, text, "a-prefix-ends-at-a-segment", "allow, not as wanted, not the same on all runs")
	for name, tt := range map[string]struct {
		fragment   string
		want, lack []string
	}{
		"whole": {"", []string{
			`aria-label="1 passed, 1 failed on 1.40.0">✗ 1 of 2</a>`, `aria-label="1 passed, 1 not applicable on 1.38.3">✓ 1 <small>n/a 1</small></a>`,
			`aria-label="deny, not the same on all runs">✗<b>≠</b></a>`, `aria-label="allow, not as wanted, not the same on all runs">✓<b>!</b><b>≠</b></a>`,
			"<dt>log</dt><dd>rbac_access_denied_matched_policy[operator]</dd></dl>", `<form role="search">`, `>6 cases</output>`,
		}, []string{`class="case odd" id="a-prefix-ends-at-a-segment" open`, `class="shown"`}},
		"a cell of the matrix": {"#path_1.40.0", []string{
			`<li id="path_1.40.0" class="chosen"><span class="failed">`, `id="a-prefix-ends-at-a-segment" open=""`, `id="a-dot-segment-is-resolved" open=""`,
		}, []string{`id="conditions-are-a-tree" open`, `<li id="path_1.38.3" class="chosen"`}},
		"a case": {"#a-dot-segment-is-resolved", []string{`id="a-dot-segment-is-resolved" open=""`}, []string{`id="a-prefix-ends-at-a-segment" open`}},
		"the evidence of a cell": {"#" + leak, []string{
			`id="a-prefix-ends-at-a-segment" open=""`, `aria-expanded="true" aria-controls="shown_`,
			`<div class="sheet"><p><b class="wrong">allow</b> by <code>owner</code>, but deny was wanted: <code>GET /metrics-evil</code>`,
		}, []string{`class="evidence" open`}},
		"a filter": {"#q=PREFIX+segment", []string{
			`>1 of 6 cases</output>`, `id="a-dot-segment-is-resolved" hidden=""`, `<tr data-story="size" hidden="">`, `<tr data-story="path">`,
		}, []string{`id="a-prefix-ends-at-a-segment" hidden`}},
		"what failed or differs":     {"#q=&only=1", []string{`>5 of 6 cases</output>`, `id="in-common" tabindex="-1" hidden=""`, `<tr hidden=""><th scope="row"><a href="#everybody-agrees">`}, []string{`id="twelve-tags" hidden`}},
		"a filter and a case":        {"#q=prefix&at=a-prefix-ends-at-a-segment", []string{`>1 of 6 cases</output>`, `id="a-prefix-ends-at-a-segment" open=""`}, nil},
		"a case that a filter hides": {"#q=prefix&at=twelve-tags", []string{`>6 cases</output>`, `id="twelve-tags" open=""`}, nil},
		"nowhere":                    {"#%zz<img>", []string{`>6 cases</output>`}, []string{"<img"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			browsertest.Expect(t, browsertest.DOM(t, at+tt.fragment), tt.want, tt.lack)
		})
	}
}

// Without its script the page has no filter, and the link of a cell still works.
func TestBrowserWithoutScript(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	text := page(t, someRuns()...)
	evidence := anchor(t, text, "a-prefix-ends-at-a-segment", "allow")
	at := address(t, strings.Replace(text, string(script), "", 1))
	for fragment, want := range map[string][]string{
		evidence:           {`id="a-prefix-ends-at-a-segment" open=""`, `<details class="evidence" open="">`, `<form role="search" hidden="">`, `<p class="all" hidden="">`},
		"path_1.38.3":      {`id="a-prefix-ends-at-a-segment" open=""`},
		"path_1.40.0":      {`id="a-prefix-ends-at-a-segment" open=""`},
		"times":            {`<details open=""><summary><h2 id="times-title">`},
		"in-common_1.38.3": {`id="everybody-agrees" open=""`},
	} {
		t.Run(fragment, func(t *testing.T) {
			t.Parallel()
			browsertest.Expect(t, browsertest.DOM(t, at+"#"+fragment), want, nil)
		})
	}
}

// The browser runs no text of a report as a script, and its console stays empty.
func TestBrowserHostile(t *testing.T) {
	t.Parallel()
	dom := browsertest.DOM(t, published(t, hostileRun(`</script><img src=x onerror="document.title='taken'">`), hostileRun(reporttest.Hostile))+"#only=1")
	browsertest.Expect(t, dom, []string{"cases</output>"}, []string{"<img", "<title>taken"})
}

func TestBrowserColours(t *testing.T) {
	t.Parallel()
	skipSlowPage(t)
	browsertest.Colours(t, published(t, someRuns()...))
}
