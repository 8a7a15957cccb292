package envoy

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/pin"
)

// testcontainers looks for a daemon once per process, hence the helper.
func TestWithoutDocker(t *testing.T) {
	t.Parallel()
	if _, err := Fetch(t.Context(), pin.DefaultVersion); err != nil { // the helper may have nobody to fetch it from
		t.Fatal(err)
	}
	mute, err := net.Listen("unix", filepath.Join(t.TempDir(), "mute"))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
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
