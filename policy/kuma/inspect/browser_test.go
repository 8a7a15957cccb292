package inspect

import (
	"bytes"
	"cmp"
	"context"
	"image/color"
	"image/png"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser finds headless Chromium; CHROMIUM names another binary.
func browser(t *testing.T) string {
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

// visit opens a page in a browser of its own and returns what it prints. Whatever
// the browser logs to its console, such as a style that was refused, is a failure.
func visit(t *testing.T, url string, args ...string) []byte {
	t.Helper()
	path := browser(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	profile := t.TempDir()
	cmd := exec.CommandContext(ctx, path, append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--user-data-dir=" + profile, "--enable-logging=stderr", "--hide-scrollbars",
	}, append(args, url)...)...)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", path, err, &said)
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the browser logs %s", line)
		}
	}
	return out
}

func TestBrowserReadsThePage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(load(t, "mesh").Handler())
	t.Cleanup(server.Close)
	const own = "kri_dp_default___backend_http-port"
	for name, tt := range map[string]struct {
		target     string
		want, lack []string
	}{
		"list": {"/", []string{"<h2>Mesh default</h2>", "<strong title=\"kri_dp_default___backend_\">backend</strong>", ">http-port</a>", "web.shop"}, nil},
		"rules in order": {"/?inbound=" + own, []string{
			"Rules, the weakest first", "kri_mtp_default___by-mesh-operator_</code>\n<dl><dt class=\"deny\">deny</dt>", "never allows: kri_mtp_default___by-mesh-operator_ denies",
		}, nil},
		"who": {ask(own, "spiffe://trust-domain.mesh/ns/legacy/sa/a", "GET", "/"), []string{
			`<strong class="allow">allow</strong> by <code>kri_mtp_default___by-service-owner_</code>`, `Shadow: <span class="deny">deny</span>`,
		}, nil},
		"escaped": {ask(own, `"><img src=x onerror=alert(1)>`, "GET", "/"), []string{"is neither a SPIFFE ID"}, []string{"<img"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dom := string(visit(t, server.URL+tt.target, "--dump-dom"))
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

// The page takes the colours that its reader prefers, thus its style is let in.
func TestBrowserColours(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(load(t, "mesh").Handler())
	t.Cleanup(server.Close)
	for name, tt := range map[string]struct {
		scheme string
		want   color.RGBA
	}{
		"dark":  {"0", color.RGBA{0x0d, 0x11, 0x17, 0xff}},
		"light": {"1", color.RGBA{0xff, 0xff, 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "page.png")
			visit(t, server.URL, "--screenshot="+file, "--window-size=800,600", "--blink-settings=preferredColorScheme="+tt.scheme)
			shot, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(shot)
			if err := cmp.Or(err, shot.Close()); err != nil {
				t.Fatal(err)
			}
			if got := color.RGBAModel.Convert(picture.At(1, 590)); got != tt.want {
				t.Errorf("the page is %v, want %v", got, tt.want)
			}
		})
	}
}
