// Package browsertest opens a page in headless Chromium, for tests of the pages that a
// reader sees. Only tests use it.
//
// The package guarantees that a page that logs to its console fails the test. A page does
// so, for example, when its policy refuses a style or a script. Without Chromium the
// package skips the test, or fails it when MESHPROOF_REQUIRE_BROWSER is 1; CHROMIUM names
// a binary. [DOM] waits for the load event of the page and does nothing else. [Open]
// returns a [Page] that can click, type and print. The package supports Chromium only.
package browsertest

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is the time limit of a browser for one page.
const patience = time.Minute

// DOM returns the document after its scripts have run.
func DOM(t testing.TB, url string) string {
	t.Helper()
	return string(visit(t, url, "--dump-dom"))
}

// screenshot returns the top of a page, 1280 pixels wide and 800 high. The scheme is the
// number that Chromium gives to a preferred colour scheme.
func screenshot(t testing.TB, url, scheme string) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	visit(t, url, "--screenshot="+file, "--window-size=1280,800", "--blink-settings=preferredColorScheme="+scheme)
	shot, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(shot)
	if err := cmp.Or(err, shot.Close()); err != nil {
		t.Fatal(err)
	}
	return picture
}

// visit opens a page in a new browser and returns the output of the browser.
func visit(t testing.TB, url string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := chromium(ctx, t, append([]string{"--enable-logging=stderr"}, append(args, url)...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd.Path, err, &stderr)
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser logs %s", line)
		}
	}
	return out
}

// chromium returns the command of a browser with a new profile. It does not start it.
func chromium(ctx context.Context, t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	profile := t.TempDir()
	cmd := exec.CommandContext(ctx, find(t), append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + profile, "--hide-scrollbars",
	}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	return cmd
}

func find(t testing.TB) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	if os.Getenv("MESHPROOF_REQUIRE_BROWSER") == "1" {
		t.Fatal("MESHPROOF_REQUIRE_BROWSER is set, but there is no Chromium")
	}
	t.Skip("there is no Chromium; MESHPROOF_REQUIRE_BROWSER=1 makes that a failure")
	return ""
}

// Expect fails the test for each wanted text that the document does not have, and for each
// unwanted text that it has.
func Expect(t testing.TB, document string, want, unwanted []string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(document, text) {
			t.Errorf("want %s in\n%s", text, document)
		}
	}
	for _, text := range unwanted {
		if strings.Contains(document, text) {
			t.Errorf("there must be no %s in\n%s", text, document)
		}
	}
}

// Colours fails the test unless the background of a page has the colour scheme that its
// reader prefers. The background also shows that the page's policy allows its style.
func Colours(t *testing.T, url string) {
	t.Helper()
	for name, tt := range map[string]struct {
		scheme string
		want   color.RGBA
	}{
		"dark":  {"0", color.RGBA{0x0d, 0x11, 0x17, 0xff}},
		"light": {"1", color.RGBA{0xff, 0xff, 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picture := screenshot(t, url, tt.scheme)
			if got := color.RGBAModel.Convert(picture.At(1, 790)); got != tt.want {
				t.Errorf("the page is %v, want %v", got, tt.want)
			}
		})
	}
}
