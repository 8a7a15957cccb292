package envoy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/meshproof/meshproof/internal/pin"
)

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
	digest, err := copyRelease(t.Context(), pin.DefaultVersion, target)
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
	if want := "the binary of " + officialImage + ":v0.0.7 is Envoy " + pin.DefaultVersion; err == nil || err.Error() != want {
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
