package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/harness"
)

var program struct {
	once sync.Once
	dir  string
	path string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if program.dir != "" && os.RemoveAll(program.dir) != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

// build compiles the command once.
func build(t *testing.T) string {
	t.Helper()
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "meshproof-deploy-"); program.err != nil {
			return
		}
		program.path = filepath.Join(program.dir, "meshproof")
		program.err = exec.Command("go", "build", "-o", program.path, "../cmd/meshproof").Run()
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return program.path
}

// docker returns an image of Envoy that this machine has.
func docker(t *testing.T) string {
	t.Helper()
	h, err := harness.Start(t.Context(), harness.WithRuntime(harness.Container))
	if err != nil {
		if os.Getenv("MESHPROOF_REQUIRE_DOCKER") != "" {
			t.Fatal(err)
		}
		t.Skip("no container: " + err.Error())
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(run(t, "docker", "images", "--format", "{{.Repository}}:{{.Tag}}")) {
		image := strings.TrimSpace(line)
		if strings.HasSuffix(image, "/envoy:v"+harness.DefaultVersion) || strings.HasPrefix(image, "meshproof/envoy:"+harness.DefaultVersion+"-") {
			return image
		}
	}
	t.Fatal("the container ran, but its image is not there")
	return ""
}

func run(t *testing.T, words ...string) string {
	t.Helper()
	var said strings.Builder
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(words, " "), err, out, &said)
	}
	return string(out)
}

// write returns the path of a file with a text.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "case.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
