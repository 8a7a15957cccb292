package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
)

// buildCommand compiles the command and returns its path.
func buildCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "meshproof")
	run(t, "go", "build", "-o", path, "../cmd/meshproof")
	return path
}

// writeEarlierReport writes the report of a run that has one case.
func writeEarlierReport(t *testing.T, dir string) {
	t.Helper()
	r := report.Run{Implementation: report.Implementation{Project: "p"}, Envoy: "1.40.0", Runtime: "process", Meshproof: "v1"}
	r.Add(report.Case{Case: "the only case", Place: "a.yaml:1", Passed: true})
	if err := folder.Write(dir, []report.Run{r}); err != nil {
		t.Fatal(err)
	}
}

// findImage returns an image of Envoy that this machine has.
func findImage(t *testing.T) string {
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
