// Package deploy_test does what the manifests of this folder say, without the cluster:
// it runs the pods of the Job side by side, and joins their results.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
)

// job is what the test needs of the manifest; the field names are the API's.
type job struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		GenerateName string `yaml:"generateName"`
	} `yaml:"metadata"`
	Spec struct {
		CompletionMode   string `yaml:"completionMode"`
		Completions      int    `yaml:"completions"`
		Parallelism      int    `yaml:"parallelism"`
		PodFailurePolicy struct {
			Rules []struct {
				Action      string `yaml:"action"`
				OnExitCodes struct {
					Values []int `yaml:"values"`
				} `yaml:"onExitCodes"`
			} `yaml:"rules"`
		} `yaml:"podFailurePolicy"`
		Template struct {
			Spec struct {
				Containers []container `yaml:"containers"`
				Volumes    []struct {
					PersistentVolumeClaim struct {
						ClaimName string `yaml:"claimName"`
					} `yaml:"persistentVolumeClaim"`
				} `yaml:"volumes"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

type container struct {
	Image string   `yaml:"image"`
	Args  []string `yaml:"args"`
	Env   []struct {
		Name      string `yaml:"name"`
		Value     string `yaml:"value"`
		ValueFrom struct {
			FieldRef struct {
				FieldPath string `yaml:"fieldPath"`
			} `yaml:"fieldRef"`
		} `yaml:"valueFrom"`
	} `yaml:"env"`
}

func readJob(t *testing.T) job {
	t.Helper()
	text, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var j job
	if err := yaml.Unmarshal(text, &j); err != nil {
		t.Fatal(err)
	}
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Spec.CompletionMode != "Indexed" || len(j.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("no Indexed Job of one container: %+v", j)
	}
	return j
}

// The three places that say how many pods there are agree.
func TestJobCountsItsPods(t *testing.T) {
	t.Parallel()
	j := readJob(t)
	shard := "job/" + strconv.Itoa(j.Spec.Completions)
	if args := strings.Join(j.Spec.Template.Spec.Containers[0].Args, " "); j.Spec.Parallelism != j.Spec.Completions || !strings.Contains(args, "--shard "+shard+" ") {
		t.Errorf("%d completions, %d at once, arguments %s", j.Spec.Completions, j.Spec.Parallelism, args)
	}
}

// Every pod of the Job, run here as a process with nothing but Envoy's binary; the
// merged report is that of all cases.
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
	// An earlier Job left results of its own.
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
			// Nothing of this machine's own settings, and no Docker.
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

// The pods are tried again where the machine failed (status 3), and only there: a wrong
// decision (1) or a wrong command line (2) would be the same again. The scripts of
// cmd/meshproof hold what each status says.
func TestJobKnowsTheExitStatuses(t *testing.T) {
	t.Parallel()
	rules := readJob(t).Spec.PodFailurePolicy.Rules
	if len(rules) != 1 || rules[0].Action != "FailIndex" {
		t.Fatalf("rules %+v", rules)
	}
	final := rules[0].OnExitCodes.Values
	for status, wantFinal := range map[int]bool{1: true, 2: true, 3: false} {
		if slices.Contains(final, status) != wantFinal {
			t.Errorf("a pod that ends with status %d fails for good: %t, want %t", status, !wantFinal, wantFinal)
		}
	}
}

// The image runs as the Job runs it: by a user without rights, on a file system that
// it cannot write to.
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
