package envoy

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// testcontainers looks for a daemon once per process, hence the helper.
func TestWithoutDocker(t *testing.T) {
	t.Parallel()
	for runtime, wantPID := range map[string]bool{"container": false, "auto": true} {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), helperVariable+"="+runtime+" exit",
				"DOCKER_HOST=unix:///nonexistent/docker.sock", "ENVOY_BIN=", "ENVOY_IMAGE=")
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			err := cmd.Run()
			if wantPID {
				if fields := strings.Fields(stdout.String()); err != nil || len(fields) != 2 {
					t.Errorf("auto: %q, %q, %v; want a process", stdout.String(), stderr.String(), err)
				}
				return
			}
			said := strings.TrimSuffix(stderr.String(), "\n")
			if err == nil || strings.Contains(said, "\n") || !strings.HasPrefix(said, "envoy: connect to Docker: no usable Docker daemon: ") ||
				!strings.HasSuffix(said, "; start Docker or use the process runtime") {
				t.Errorf("container: %v, %q; want one line about Docker", err, said)
			}
		})
	}
}
