package envoy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"

	"github.com/meshproof/meshproof/internal/pin"
)

// The test needs a helper process, because testcontainers looks for a daemon once per process.
func TestWithoutDocker(t *testing.T) {
	t.Parallel()
	if _, err := Fetch(t.Context(), pin.DefaultVersion); err != nil { // the helper may have no source of Envoy
		t.Fatal(err)
	}
	mute, err := net.Listen("unix", filepath.Join(t.TempDir(), "mute"))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	answering := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.47")
		_, _ = io.WriteString(w, "{}")
	}))
	defer answering.Close()
	remote := "tcp://" + answering.Listener.Addr().String()
	silent := "unix://" + mute.Addr().String()
	t.Run("hosts", func(t *testing.T) {
		for name, tc := range map[string]struct {
			runtime, host, say string // without say it runs as a process
		}{
			"auto": {"auto", "unix:///nonexistent/docker.sock", ""},
			"none": {
				"container", "unix:///nonexistent/docker.sock",
				"DOCKER_HOST=unix:///nonexistent/docker.sock does not answer: dial unix /nonexistent/docker.sock: connect: no such file or directory; start Docker or use the process runtime",
			},
			"garbage": {
				"container", "garbage",
				"DOCKER_HOST=garbage is no address such as unix:///var/run/docker.sock; correct DOCKER_HOST or use the process runtime",
			},
			"on another machine": {
				"container", remote,
				"the daemon at " + remote + " is not on this machine, and Envoy could not connect back; use the process runtime",
			},
			"mute": {
				"container", silent,
				"DOCKER_HOST=" + silent + " does not answer: waited for 5s; start Docker or use the process runtime",
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), helperVariable+"="+tc.runtime+" exit", "DOCKER_HOST="+tc.host, "ENVOY_BIN=", "ENVOY_IMAGE=")
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				err := cmd.Run()
				if tc.say == "" {
					if fields := strings.Fields(stdout.String()); err != nil || len(fields) != 2 {
						t.Errorf("%q, %q, %v; want a process", stdout.String(), stderr.String(), err)
					}
					return
				}
				want := "envoy: connect to Docker: no usable Docker daemon: " + tc.say + "\n"
				if err == nil || stderr.String() != want {
					t.Errorf("%v, %q; want %q", err, stderr.String(), want)
				}
			})
		}
	})
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

// The container of a copy is removed, also if the copy fails.
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

// checkNoCopy fails if the container of a copy into dir is left.
func checkNoCopy(t *testing.T, c *testcontainers.DockerClient, dir string) {
	t.Helper()
	left, err := c.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", labelRun+"="+dir)})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("containers of %s: %+v, %v; want none", dir, left.Items, err)
	}
}
