package report

import (
	"bytes"
	"image/color"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/browsertest"
)

// published writes a page as a CI job would, and returns its address.
func published(t *testing.T, runs ...Run) string {
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
	cell := regexp.MustCompile(`href="#(e\d+_\d+)" aria-label="` + label + `"`).FindStringSubmatch(rest)
	if !found || cell == nil {
		t.Fatalf("%s has no cell %q", name, label)
	}
	return cell[1]
}

func TestBrowserReadsThePage(t *testing.T) {
	t.Parallel()
	runs := pageRuns()
	at, text := published(t, runs...), page(t, runs...)
	leak := anchor(t, text, "a-prefix-ends-at-a-segment", "allow, not as wanted, not the same on all runs")
	for name, tt := range map[string]struct {
		fragment   string
		want, lack []string
	}{
		"whole": {"", []string{
			`aria-label="1 passed, 1 failed on 1.40.0">✗ 1 of 2</a>`, `aria-label="1 passed, 1 not applicable on 1.38.3">✓ 1 <small>n/a 1</small></a>`,
			`aria-label="deny, not the same on all runs">✗<b>≠</b></a>`, `aria-label="allow, not as wanted, not the same on all runs">✓<b>!</b><b>≠</b></a>`,
			"<dt>log</dt><dd>rbac_access_denied_matched_policy[operator]</dd>", `<form role="search">`, `>6 cases</output>`,
		}, []string{`class="case odd" id="a-prefix-ends-at-a-segment" open`, `class="shown"`}},
		"a cell of the matrix": {"#path_1.40.0", []string{
			`<li id="path_1.40.0" class="chosen" tabindex="-1">`, `id="a-prefix-ends-at-a-segment" open=""`,
		}, []string{`id="a-dot-segment-is-resolved" open`}},
		"a case": {"#a-dot-segment-is-resolved", []string{`id="a-dot-segment-is-resolved" open=""`}, []string{`id="a-prefix-ends-at-a-segment" open`}},
		"the evidence of a cell": {"#" + leak, []string{
			`id="a-prefix-ends-at-a-segment" open=""`, `aria-expanded="true" aria-controls="shown_`,
			`<div class="sheet"><p><b class="wrong">allow</b> by <code>owner</code>, but deny was wanted: <code>GET /metrics-evil</code>`,
		}, []string{`class="evidence" open`}},
		"a filter": {"#q=PREFIX+segment", []string{
			`>1 of 6 cases</output>`, `id="a-dot-segment-is-resolved" hidden=""`, `<tr data-story="size" hidden="">`, `<tr data-story="path">`,
		}, []string{`id="a-prefix-ends-at-a-segment" hidden`}},
		"what failed or differs": {"#q=&only=1", []string{`>5 of 6 cases</output>`, `id="in-common" tabindex="-1" hidden=""`}, []string{`id="twelve-tags" hidden`}},
		"nowhere":                {"#%zz<img>", []string{`>6 cases</output>`}, []string{"<img"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dom := browsertest.DOM(t, at+tt.fragment)
			for _, want := range tt.want {
				if !strings.Contains(dom, want) {
					t.Errorf("want %s in\n%s", want, dom)
				}
			}
			for _, lack := range tt.lack {
				if strings.Contains(dom, lack) {
					t.Errorf("there must be no %s in\n%s", lack, dom)
				}
			}
		})
	}
}

// Without its script the page has no filter, and a cell still leads to its evidence.
func TestBrowserWithoutScript(t *testing.T) {
	t.Parallel()
	text := page(t, pageRuns()...)
	evidence := anchor(t, text, "a-prefix-ends-at-a-segment", "allow")
	dom := browsertest.DOM(t, address(t, strings.Replace(text, string(pageScript), "", 1))+"#"+evidence)
	for _, want := range []string{`id="a-prefix-ends-at-a-segment" open=""`, `<details class="evidence" open="">`, `<form role="search" hidden="">`} {
		if !strings.Contains(dom, want) {
			t.Errorf("want %s in\n%s", want, dom)
		}
	}
}

// Nothing that a run holds is run, and the console stays silent.
func TestBrowserHostile(t *testing.T) {
	t.Parallel()
	dom := browsertest.DOM(t, published(t, hostileRun(`</script><img src=x onerror="document.title='taken'">`), hostileRun(hostile))+"#only=1")
	for _, lack := range []string{"<img", "<title>taken"} {
		if strings.Contains(dom, lack) {
			t.Errorf("there must be no %s in\n%s", lack, dom)
		}
	}
	if !strings.Contains(dom, "cases</output>") {
		t.Error("the script of the page did not run")
	}
}

// The page takes the colours that its reader prefers, thus its style is let in.
func TestBrowserColours(t *testing.T) {
	t.Parallel()
	at := published(t, pageRuns()...)
	for name, tt := range map[string]struct {
		scheme browsertest.Scheme
		want   color.RGBA
	}{
		"dark":  {browsertest.Dark, color.RGBA{0x0d, 0x11, 0x17, 0xff}},
		"light": {browsertest.Light, color.RGBA{0xff, 0xff, 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picture := browsertest.Screenshot(t, at, tt.scheme, "1280", "800")
			if got := color.RGBAModel.Convert(picture.At(1, 790)); got != tt.want {
				t.Errorf("the page is %v, want %v", got, tt.want)
			}
		})
	}
}

// The page prints, and what is open prints with it.
func TestBrowserPrints(t *testing.T) {
	t.Parallel()
	at := published(t, pageRuns()...)
	closed, open := browsertest.PDF(t, at), browsertest.PDF(t, at+"#a-prefix-ends-at-a-segment")
	for _, printed := range [][]byte{closed, open} {
		if !bytes.HasPrefix(printed, []byte("%PDF-")) || !bytes.Contains(printed, []byte("/Type /Page")) {
			t.Fatalf("this is no printed page: %.40q", printed)
		}
	}
	if len(open) <= len(closed) {
		t.Errorf("with a case open it is %d bytes, without %d: the case is not printed", len(open), len(closed))
	}
}
