// Package deploy_test runs the manifests of this folder without a cluster: it runs the pods
// of the Job at the same time and merges their results.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
	"github.com/meshproof/meshproof/internal/testbed"
)

// TestPodsTogetherRunAllCases runs every pod of the Job as a process that has only the
// binary of Envoy. The merged report has all cases.
func TestPodsTogetherRunAllCases(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: it builds meshproof, and runs all cases, which package cases/e2e runs too")
	}
	j := readJob(t)
	program := buildCommand(t)
	bin, err := envoy.Fetch(t.Context(), harness.DefaultVersion)
	if err != nil {
		t.Fatal(err)
	}
	reports := t.TempDir()
	// An earlier Job has left its results.
	writeEarlierReport(t, filepath.Join(reports, "meshproof-early", "shard-0"))
	const name = "meshproof-x7k2p"
	var pods sync.WaitGroup
	for index := range j.Spec.Completions {
		pods.Go(func() {
			var args []string
			for _, arg := range j.Spec.Template.Spec.Containers[0].Args {
				arg = strings.ReplaceAll(arg, "$(JOB_COMPLETION_INDEX)", strconv.Itoa(index))
				arg = strings.ReplaceAll(arg, "$(JOB_NAME)", name)
				args = append(args, strings.Replace(arg, "/reports/", reports+"/", 1))
			}
			pod := exec.CommandContext(t.Context(), program, args...)
			// The pod gets no settings of this machine, and no Docker.
			pod.Env = []string{"JOB_COMPLETION_INDEX=" + strconv.Itoa(index), "ENVOY_BIN=" + bin, "TMPDIR=" + t.TempDir(), "DOCKER_HOST=unix:///nonexistent"}
			if out, err := pod.CombinedOutput(); err != nil {
				t.Errorf("pod %d: %v\n%s", index, err, out)
			}
		})
	}
	pods.Wait()
	parts, err := folder.Load(filepath.Join(reports, name))
	if err != nil {
		t.Fatal(err)
	}
	merged, err := report.Merge(parts...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != j.Spec.Completions || len(merged) != 1 || len(merged[0].Cases) != len(all) {
		t.Fatalf("%d parts, %d runs, not of all %d cases", len(parts), len(merged), len(all))
	}
	for i, c := range merged[0].Cases {
		if c.Failed() {
			t.Errorf("case %q failed: %s", c.Case, c.Error)
		}
		if c.Case != all[i].Name {
			t.Fatalf("case %d is %q, unsharded it is %q", i, c.Case, all[i].Name)
		}
	}
}

// TestImage runs the image as the Job does: as a user without rights, on a read-only file
// system.
func TestImage(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("slow: it builds meshproof without cgo, and an image")
	}
	base := findImage(t)
	dir := t.TempDir()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "meshproof"), "../cmd/meshproof")
	compile.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tag := "meshproof-deploy-test:" + strconv.Itoa(os.Getpid())
	t.Cleanup(func() {
		if out, err := exec.Command("docker", "image", "rm", "--force", tag).CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	run(t, "docker", "build", "--quiet", "--build-arg", "ENVOY_IMAGE="+base, "--tag", tag, dir)
	out := run(t, "docker", "run", "--rm", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none",
		"--tmpfs=/tmp:mode=1777", "--env=TMPDIR=/tmp", "--env=JOB_COMPLETION_INDEX=4", tag,
		"run", "--runtime", "process", "--profile", "GEP-3779", "--shard", "job/5", "--report", "/tmp/reports/shard-4")
	if !strings.Contains(out, " cases passed, ") {
		t.Errorf("it printed %s", out)
	}
}

// buildCommand compiles the command and returns its path.
func buildCommand(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "meshproof")
	run(t, "go", "build", "-o", path, "../cmd/meshproof")
	return path
}

// writeEarlierReport writes the report of a run with one case.
func writeEarlierReport(t *testing.T, dir string) {
	t.Helper()
	r := report.Run{Implementation: report.Implementation{Project: "p"}, Envoy: "1.40.0", Runtime: "process", Meshproof: "v1"}
	r.Add(report.Case{Case: "the only case", Place: "a.yaml:1", Passed: true})
	if err := folder.Write(dir, []report.Run{r}); err != nil {
		t.Fatal(err)
	}
}

// findImage returns an Envoy image of this machine.
func findImage(t *testing.T) string {
	t.Helper()
	h, err := harness.Start(t.Context(), harness.WithRuntime(harness.Container))
	testbed.NeedDocker(t, err)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(run(t, "docker", "images", "--format", "{{.Repository}}:{{.Tag}}")) {
		image := strings.TrimSpace(line)
		if strings.HasSuffix(image, "/envoy:v"+harness.DefaultVersion) || strings.HasPrefix(image, "meshproof/envoy:"+harness.DefaultVersion+"-") {
			return image
		}
	}
	t.Fatal("the container ran, but its image is missing")
	return ""
}

func run(t *testing.T, words ...string) string {
	t.Helper()
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(words, " "), err, out, &stderr)
	}
	return string(out)
}
