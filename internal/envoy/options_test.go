package envoy

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/testbed"
)

// checkVersions runs a binary of the default version under the number 1.36.4.
func checkVersions(t *testing.T, r Runtime, asked map[string]bool) {
	t.Helper()
	for version, fits := range asked {
		e := start(t, Options{Runtime: r, Version: version}, adminOnly)
		if err := ready(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		got, err := e.Version(t.Context())
		switch {
		case fits && (err != nil || got != pin.DefaultVersion):
			t.Errorf("where %q is asked for: %q, %v; want %s", version, got, err, pin.DefaultVersion)
		case !fits && !errors.Is(err, pin.ErrUnknownVersion):
			t.Errorf("where %q is asked for: %q, %v; want %q", version, got, err, pin.ErrUnknownVersion)
		case !fits:
			testbed.CheckOneLine(t, "envoy: ", err, "check the version of "+e.plan.runner.source(), "it is Envoy "+pin.DefaultVersion+", not 1.36.4", e.plan.runner.variable())
		}
	}
}

func TestATagIsNoVersion(t *testing.T) {
	image, c := anImage(t)
	t.Setenv("ENVOY_BIN", "")
	for _, name := range []string{"meshproof/test-envoy:1.36.4", "meshproof/test-envoy:latest"} {
		tag(t, c, image, name)
		t.Setenv("ENVOY_IMAGE", name)
		checkVersions(t, Auto, map[string]bool{"": true, "v" + pin.DefaultVersion: true, "1.36.4": false})
	}
}

func TestBinaryThatSaysAnotherVersion(t *testing.T) {
	bin, err := Fetch(t.Context(), pin.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	liar := filepath.Join(t.TempDir(), "envoy")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1\" = --version ] || exec %q \"$@\"\necho 'envoy  version: 0/1.36.4/Clean/RELEASE/BoringSSL'\n", bin)
	if err := os.WriteFile(liar, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_BIN", liar)
	checkVersions(t, Process, map[string]bool{"": false, "1.36.4": false})
}

// A binary that never says its version ends with what it started, also where that holds its
// standard output.
func TestBinaryThatNeverSaysItsVersion(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hangs, alive := filepath.Join(dir, "envoy"), filepath.Join(dir, "alive")
	if err := unix.Mkfifo(alive, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hangs, []byte(fmt.Sprintf("#!/bin/sh\nexec 3>%q\nsleep 1000 &\necho >&3\nwait\n", alive)), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop, ended := errors.New("stop"), make(chan error)
	go func() {
		f, err := os.Open(alive)
		if err == nil {
			_, err = f.Read(make([]byte, 1))
		}
		cancel(stop)
		if err == nil {
			// It ends with the last process that holds it open.
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
		ended <- err
	}()
	if _, err := binaryVersion(ctx, hangs); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRuntimeIsAFlag(t *testing.T) {
	t.Parallel()
	for _, want := range []Runtime{Auto, Container, Process} {
		var got Runtime
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		fs.TextVar(&got, "runtime", Auto, "")
		if err := fs.Parse([]string{"-runtime", want.String()}); err != nil || got != want {
			t.Errorf("-runtime %s: %v, %v", want, got, err)
		}
	}
	_, err := ParseRuntime("podman")
	testbed.CheckOneLine(t, "envoy: ", err, `"podman"`, "auto, container or process")
	if got, want := Runtime(7).String(), "Runtime(7)"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Ports: -1}, {Ports: maxContainerPorts + 1}, {DrainTime: -1}, {Runtime: 9}} {
		_, err := Prepare(t.Context(), o)
		testbed.CheckOneLine(t, "envoy: ", err, "options")
		if typed := (*pin.Error)(nil); errors.As(err, &typed) {
			t.Errorf("%+v: %v is an *Error, but the machine is sound", o, err)
		}
	}
	want := []string{
		"-c", "b", "--concurrency", "1", "--disable-hot-restart", "--drain-time-s", "2", "--drain-strategy", "immediate",
		"--file-flush-interval-msec", "50", "--log-level", "warning",
	}
	if diff := cmp.Diff(want, Options{DrainTime: 1001e6}.arguments("b")); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestOwnBinary(t *testing.T) {
	bin, err := Fetch(t.Context(), pin.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ENVOY_IMAGE", "")
	t.Setenv("ENVOY_BIN", bin)
	p, err := Prepare(t.Context(), Options{})
	if err != nil || p.String() != "Envoy "+pin.DefaultVersion+" as a process" {
		t.Fatalf("with ENVOY_BIN: %+v, %v", p, err)
	}
	_, err = Prepare(t.Context(), Options{Version: "1.36.4"})
	if !errors.Is(err, pin.ErrUnknownVersion) {
		t.Errorf("another version than ENVOY_BIN: %v", err)
	}
	testbed.CheckOneLine(t, "envoy: ", err, "ENVOY_BIN="+bin, "it is Envoy "+pin.DefaultVersion+", but 1.36.4 is asked for")

	t.Setenv("ENVOY_BIN", "/bin/echo")
	_, err = Prepare(t.Context(), Options{})
	testbed.CheckOneLine(t, "envoy: ", err, "ENVOY_BIN=/bin/echo", "--version printed")
	t.Setenv("ENVOY_BIN", filepath.Join(t.TempDir(), "none"))
	_, err = Prepare(t.Context(), Options{})
	testbed.CheckOneLine(t, "envoy: ", err, "no such file")
}

func TestOwnImage(t *testing.T) {
	needDocker(t)
	t.Setenv("ENVOY_BIN", "")
	t.Setenv("ENVOY_IMAGE", "")
	p, err := Prepare(t.Context(), Options{Runtime: Container})
	if err != nil {
		t.Fatal(err)
	}
	image := p.runner.(docker).image
	t.Setenv("ENVOY_IMAGE", image)
	p, err = Prepare(t.Context(), Options{})
	if err != nil || p.String() != "Envoy of image "+image+" as a container" {
		t.Fatalf("with ENVOY_IMAGE: %v, %v", p, err)
	}
	if _, err = Prepare(t.Context(), Options{Version: "latest"}); !errors.Is(err, pin.ErrUnknownVersion) {
		t.Errorf("no version of ENVOY_IMAGE: %v", err)
	}
	t.Setenv("ENVOY_IMAGE", "localhost:1/none:v1.2.3")
	if _, err = Prepare(t.Context(), Options{}); !errors.Is(err, ErrNoImage) {
		t.Errorf("an image that cannot be had: %v", err)
	}
	testbed.CheckOneLine(t, "envoy: ", err, "pull localhost:1/none:v1.2.3")
}

func TestImportError(t *testing.T) {
	t.Parallel()
	if err := importError([]byte(`{"status":"sha256:1"}` + "\n")); err != nil {
		t.Error(err)
	}
	if err := importError([]byte(`{"status":"a"}{"errorDetail":{"message":"no space"},"error":"no space"}`)); err == nil || err.Error() != "no space" {
		t.Errorf("importError = %v, want no space", err)
	}
}

func TestLibraries(t *testing.T) {
	t.Parallel()
	bin, err := Fetch(t.Context(), pin.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	libs, err := libraries(bin)
	if err != nil {
		t.Skipf("no glibc here, so that no image can be built: %v", err)
	}
	names := map[string]bool{}
	for name, path := range libs {
		names[filepath.Base(name)] = true
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is %s: %v, %v", name, path, info, err)
		}
	}
	for _, want := range []string{"libc.so.6", "libm.so.6"} {
		if !names[want] {
			t.Errorf("no %s in %v", want, libs)
		}
	}
	if _, err := libraries("/etc/passwd"); err == nil {
		t.Error("libraries of a text file")
	}
}
