// Package examples tests the example compilers of other meshes. They work as the documents
// describe.
package examples

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/plugin"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExampleCompilerOfGo runs the tests of the module in the folder compiler, as its owner would, and reads
// its report.
func TestExampleCompilerOfGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds another module")
	}
	folder, err := filepath.Abs("compiler")
	if err != nil {
		t.Fatal(err)
	}
	// The test writes the report into its working directory.
	dir := t.TempDir()
	binary := filepath.Join(dir, "mesh.test")
	compiler, err := filepath.Abs(filepath.Join("python", "compiler.py"))
	if err != nil {
		t.Fatal(err)
	}
	environment := []string{"MESH_COMPILER=" + python3(t) + " " + compiler, "MESH_CONTROL_PLANE=" + startControlPlane(t)}
	for _, command := range []*exec.Cmd{
		commandIn(folder, "go", "vet", "./..."),
		commandIn(folder, "go", "test", "-c", "-o", binary, "."),
		commandIn(dir, binary, "-test.v"),
	} {
		command.Env = slices.Concat(os.Environ(), environment, []string{"GOWORK=off", "GOFLAGS=-mod=readonly"})
		out, err := command.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("\n--- SKIP: ")) {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	reports, err := filepath.Glob(filepath.Join(dir, "report", "conformance-*.yaml"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("%d reports: %v", len(reports), err)
	}
	data, err := os.ReadFile(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	var written report.Conformance
	if err := yaml.Unmarshal(data, &written); err != nil {
		t.Fatal(err)
	}
	if written.Implementation.Project != "mesh" {
		t.Errorf("the report is about %+v", written.Implementation)
	}
	for _, p := range written.Profiles {
		if p.Name != string(feature.GEP3779) || p.Core.Result != "partial" || p.Core.Statistics.Passed == 0 || p.Core.Statistics.Failed != 0 || p.Extended.Result != "success" {
			t.Errorf("profile %s: core %+v, extended %+v", p.Name, p.Core, p.Extended)
		}
	}
}

// startControlPlane builds and starts the control plane of the examples, and returns its address.
func startControlPlane(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "controlplane")
	if out, err := commandIn(".", "go", "build", "-ldflags", "-s -w", "-o", binary, "./controlplane").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plane := commandIn(".", binary, "-listen", "127.0.0.1:0")
	stdout, err := plane.StdoutPipe()
	if err == nil {
		err = plane.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = plane.Process.Kill()
		_ = plane.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ADS on ")
	if err != nil || !ok {
		t.Fatalf("the control plane printed %q, %v", line, err)
	}
	return address
}

// commandIn returns a command that runs in the folder.
func commandIn(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	return cmd
}

// TestPython runs every case of the profile with the compiler in Python.
func TestPython(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Envoy")
	}
	for _, r := range judge(t, filepath.Join("python", "compiler.py"), nil) {
		if reason, _ := (matrix.Selection{Exempt: exempt}).Skip(r.Case); reason == "" && !r.Passed() {
			t.Errorf("%s: %v%v", r.Case.Name, r.Err, problems(r))
		}
	}
}

// TestWrongPython shows that TestPython can fail: it finds a compiler that compares only the
// beginning of SPIFFE IDs.
func TestWrongPython(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts Envoy")
	}
	source, err := os.ReadFile(filepath.Join("python", "compiler.py"))
	if err != nil {
		t.Fatal(err)
	}
	const right, wrong = `{"exact": source`, `{"prefix": source`
	if !strings.Contains(string(source), right) {
		t.Fatalf("the compiler has no %s", right)
	}
	script := filepath.Join(t.TempDir(), "compiler.py")
	if err := os.WriteFile(script, []byte(strings.Replace(string(source), right, wrong, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	results := judge(t, script, func(c cases.Case) bool { return c.Story == "gateway-spiffe" })
	if !slices.ContainsFunc(results, result.Case.Failed) {
		t.Error("every case passed")
	}
}

var conversation = regexp.MustCompile("(?s)```\n(→.*?)```")

// TestDocumentedRequestsToACompiler sends the requests in the document to the compiler and compares the
// answers.
func TestDocumentedRequestsToACompiler(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "compilers.md"))
	if err != nil {
		t.Fatal(err)
	}
	match := conversation.FindSubmatch(text)
	if match == nil {
		t.Fatal("the document has no conversation")
	}
	var requests bytes.Buffer
	var want []any
	// A message is an arrow and then JSON.
	for i, message := range strings.FieldsFunc(string(match[1]), func(r rune) bool { return r == '→' || r == '←' }) {
		if i%2 == 0 {
			if err := json.Compact(&requests, []byte(message)); err != nil {
				t.Fatal(err)
			}
			requests.WriteByte('\n')
			continue
		}
		var answer any
		if err := json.Unmarshal([]byte(message), &answer); err != nil {
			t.Fatal(err)
		}
		want = append(want, answer)
	}
	python := exec.Command(python3(t), filepath.Join("python", "compiler.py"))
	python.Stdin = &requests
	out, err := python.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []any
	for line := range bytes.Lines(out) {
		var answer any
		if err := json.Unmarshal(line, &answer); err != nil {
			t.Fatal(err)
		}
		got = append(got, answer)
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != 3 {
		t.Errorf("%d answers (-want +got):\n%s", len(want), diff)
	}
}

func python3(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	return path
}

// exempt is the feature of validation, which the compiler leaves to an API server.
var exempt = []feature.Name{"AuthorizationPolicyValidation"}

// judge runs the cases of GEP-3779, or only the wanted cases.
func judge(t *testing.T, script string, wanted func(cases.Case) bool) []result.Case {
	t.Helper()
	compiler, err := plugin.Start(t.Context(), []string{python3(t), script}, plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := compiler.Close(); err != nil {
			t.Error(err)
		}
	}()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	if wanted != nil {
		stories = slices.DeleteFunc(stories, func(c cases.Case) bool { return !wanted(c) })
	}
	results, err := matrix.Suite{
		Cases: stories, Compiler: suite.CompilerFunc(compiler.Compile), Runtime: harness.Process,
		Selection: matrix.Selection{Profiles: []feature.Profile{feature.GEP3779}, Exempt: exempt},
	}.Run(t.Context())
	if err != nil || len(results) != 1 || len(results[0].Results) == 0 {
		t.Fatalf("%d results: %v", len(results), err)
	}
	return results[0].Results
}

func problems(r result.Case) string {
	var b strings.Builder
	for _, q := range r.Requests {
		for _, problem := range q.ProblemTexts() {
			b.WriteString("\n" + q.Place + ": " + problem)
		}
	}
	return b.String()
}
