package deploy_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/harness"
)

// job has the fields of the manifest that the tests read, under the names of the API.
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
		t.Fatalf("want an Indexed Job with one container, got %+v", j)
	}
	return j
}

// TestNumberOfPods compares the three places that have the number of pods.
func TestNumberOfPods(t *testing.T) {
	t.Parallel()
	j := readJob(t)
	shard := "job/" + strconv.Itoa(j.Spec.Completions)
	if args := strings.Join(j.Spec.Template.Spec.Containers[0].Args, " "); j.Spec.Parallelism != j.Spec.Completions || !strings.Contains(args, "--shard "+shard+" ") {
		t.Errorf("%d completions, %d at once, arguments %s", j.Spec.Completions, j.Spec.Parallelism, args)
	}
}

// TestExitStatuses shows that only a failure of the machine (status 3) starts a pod again. A
// wrong decision (1) or a wrong command line (2) would repeat. The scripts of cmd/meshproof
// test the meaning of each status.
func TestExitStatuses(t *testing.T) {
	t.Parallel()
	rules := readJob(t).Spec.PodFailurePolicy.Rules
	if len(rules) != 1 || rules[0].Action != "FailIndex" {
		t.Fatalf("rules %+v", rules)
	}
	final := rules[0].OnExitCodes.Values
	for status, wantFinal := range map[int]bool{1: true, 2: true, 3: false} {
		if slices.Contains(final, status) != wantFinal {
			t.Errorf("a pod that ends with status %d is not started again: %t, want %t", status, !wantFinal, wantFinal)
		}
	}
}

// TestFolderOfJob shows that the folder of the results has the name of the Job. Each run is a
// new Job.
func TestFolderOfJob(t *testing.T) {
	t.Parallel()
	j := readJob(t)
	c := j.Spec.Template.Spec.Containers[0]
	path := ""
	for _, env := range c.Env {
		if env.Name == "JOB_NAME" {
			path = env.ValueFrom.FieldRef.FieldPath
		}
	}
	if path != "metadata.labels['batch.kubernetes.io/job-name']" || j.Metadata.GenerateName != "meshproof-" ||
		!strings.Contains(strings.Join(c.Args, " "), "--report /reports/$(JOB_NAME)/shard-$(JOB_COMPLETION_INDEX)") {
		t.Errorf("JOB_NAME is %q, the name of the Job is %q, the arguments are %q", path, j.Metadata.GenerateName, c.Args)
	}
}

// TestClaim shows that the Job names the claim, and that all pods can write to it.
func TestClaim(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("pvc.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var claim struct {
		Kind     string `yaml:"kind"`
		Metadata struct {
			Name string `yaml:"name"`
		} `yaml:"metadata"`
		Spec struct {
			AccessModes []string `yaml:"accessModes"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(text, &claim); err != nil {
		t.Fatal(err)
	}
	want := readJob(t).Spec.Template.Spec.Volumes[0].PersistentVolumeClaim.ClaimName
	if claim.Kind != "PersistentVolumeClaim" || claim.Metadata.Name != want || !slices.Equal(claim.Spec.AccessModes, []string{"ReadWriteMany"}) {
		t.Errorf("%+v, the Job names %q", claim, want)
	}
}

// TestDockerfile shows that the image has the default version of Envoy by default.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nARG ENVOY_IMAGE=envoyproxy/envoy:v" + harness.DefaultVersion + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("there is no line %q", strings.TrimSpace(want))
	}
}
