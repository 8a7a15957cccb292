// Package browsertest opens a page in headless Chromium, for tests of what a reader
// will see and do.
//
// It guarantees that a page which logs anything to its console, such as a style or a
// script that its policy refuses, fails the test. Where there is no Chromium it skips
// the test, or fails it if MESHPROOF_REQUIRE_BROWSER is 1; CHROMIUM names a binary.
// [DOM], [Screenshot] and [PDF] click nothing and wait for nothing but the page's load
// event; [Open] returns a [Page] that clicks, types and prints. It knows no browser but
// Chromium.
package browsertest

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// patience is how long a browser may take for one page.
const patience = time.Minute

// Scheme is the colour scheme that a reader prefers, as Chromium numbers them.
type Scheme string

// The schemes.
const (
	Dark  Scheme = "0"
	Light Scheme = "1"
)

// DOM returns the document as it is once its scripts have run.
func DOM(t testing.TB, url string) string {
	t.Helper()
	return string(visit(t, url, "--dump-dom"))
}

// Screenshot returns the top of a page, as many pixels wide and high as asked for.
func Screenshot(t testing.TB, url string, scheme Scheme, width, height string) image.Image {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.png")
	visit(t, url, "--screenshot="+file, "--window-size="+width+","+height, "--blink-settings=preferredColorScheme="+string(scheme))
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

// PDF returns the page as it is printed.
func PDF(t testing.TB, url string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.pdf")
	visit(t, url, "--print-to-pdf="+file, "--no-pdf-header-footer")
	printed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return printed
}

// visit opens a page in a browser of its own and returns what it prints.
func visit(t testing.TB, url string, args ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := chromium(ctx, t, append([]string{"--enable-logging=stderr"}, append(args, url)...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd.Path, err, &said)
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser logs %s", line)
		}
	}
	return out
}

// chromium returns a browser that is yet to be started, with a profile of its own.
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
