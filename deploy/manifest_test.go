package deploy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/harness"
)

// The folder of the results is named after the Job, of which each run has another.
func TestJobHasAFolderOfItsOwn(t *testing.T) {
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
		t.Errorf("JOB_NAME is %q, the Job is called %q, the arguments are %q", path, j.Metadata.GenerateName, c.Args)
	}
}

// The claim is the one that the Job names, and one that all pods can write.
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

// What the image is built of unless told otherwise is the default version.
func TestDockerfileNamesTheDefaultVersion(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if want := "\nARG ENVOY_IMAGE=envoyproxy/envoy:v" + harness.DefaultVersion + "\n"; !strings.Contains(string(text), want) {
		t.Errorf("there is no line %q", strings.TrimSpace(want))
	}
}
