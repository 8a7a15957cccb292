package proof_test

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// change is a fault in one place: FAULT in the new text is true while the fault is there.
type change struct{ file, old, faulty string }

// faults are made alike in the oracle and in the plain evaluator, so that neither can tell.
// The compiler follows the oracle.
//
// A later fault may change a line that an earlier one has changed, as long as the old text is
// still there.
var faults = []struct {
	name    string
	changes []change
}{
	{"a path prefix compares bytes", []change{
		{"policy/match.go", `ok && (rest == "" || rest[0] == '/')`, `ok && (FAULT || rest == "" || rest[0] == '/')`},
		{"policy/kuma/internal/evaluation/evaluate.go", `strings.Index(e.path+"/", below) == 0`, `strings.Index(e.path+"/", below) == 0 || FAULT && strings.HasPrefix(e.path, strings.TrimRight(want.Value, "/"))`},
	}},
	{"an exact identity ignores case", []change{
		{"policy/match.go", `return s == value`, `return s == value || FAULT && strings.EqualFold(s, value)`},
		{"policy/kuma/internal/evaluation/evaluate.go", `return e.peer == want.Value`, `return e.peer == want.Value || FAULT && strings.EqualFold(e.peer, want.Value)`},
	}},
	{"an exact identity is a prefix", []change{
		{"policy/match.go", `return s == value`, `return s == value || FAULT && strings.HasPrefix(s, value)`},
		{"policy/kuma/internal/evaluation/evaluate.go", `return e.peer == want.Value`, `return e.peer == want.Value || FAULT && strings.HasPrefix(e.peer, want.Value)`},
	}},
	{"an allow goes before a deny", []change{
		{"policy/kuma/internal/lowering/lower.go", "	program := policy.Program{Gates: []policy.Gate{l.gate(l.denies, l.allows)}}\n", "	program := policy.Program{Gates: []policy.Gate{l.gate(l.denies, l.allows)}}\n	if FAULT {\n		program.Gates[0] = l.gate(l.allows, l.denies)\n	}\n"},
		{"policy/kuma/internal/evaluation/evaluate.go", `if denier != "" {`, `if denier != "" && !(FAULT && e.first(permission.Allow, permission.AllowWithShadowDeny) != "") {`},
	}},
	{"slashes are kept", []change{
		{"policy/normalize.go", `if !n.KeepSlashes {`, `if !n.KeepSlashes && !FAULT {`},
		{"internal/plainpath/path.go", `if !n.KeepSlashes {`, `if !n.KeepSlashes && !FAULT {`},
	}},
	{"a deny with a path is dropped on tcp", []change{
		{"policy/kuma/internal/lowering/lower.go", "\treturn m.OnConnection", "\tif FAULT {\n\t\treturn policy.Never\n\t}\n\treturn m.OnConnection"},
		{"policy/kuma/internal/evaluation/evaluate.go", `return l == permission.Deny || m.Path == nil`, `return l == permission.Deny && !FAULT || m.Path == nil`},
	}},
	{"the scope of a namespace is dropped", []change{
		{"policy/kuma/internal/selection/miss.go", `(role == permission.RoleConsumer ||`, `!FAULT && (role == permission.RoleConsumer ||`},
		{"policy/kuma/internal/evaluation/select.go", `if role != "producer" && role != "system" &&`, `if !FAULT && role != "producer" && role != "system" &&`},
	}},
	{"names are ordered the other way", []change{
		{"policy/kuma/internal/selection/select.go", `if c := strings.Compare(s.policy.ID.Name, r.policy.ID.Name); c != 0 {`, "if c := strings.Compare(s.policy.ID.Name, r.policy.ID.Name); c != 0 {\n		if FAULT {\n			return -c\n		}"},
		{"policy/kuma/internal/evaluation/select.go", `return a.policy.ID.Name > b.policy.ID.Name`, `return (a.policy.ID.Name > b.policy.ID.Name) != FAULT`},
	}},
	{"the label of a shadow policy is ignored", []change{
		{"policy/kuma/internal/selection/miss.go", `if p.Labels[permission.LabelEffect] ==`, `if !FAULT && p.Labels[permission.LabelEffect] ==`},
		{"policy/kuma/internal/evaluation/select.go", `if p.Labels["kuma.io/effect"] == "shadow" {`, `if !FAULT && p.Labels["kuma.io/effect"] == "shadow" {`},
	}},
	{"the zone is ignored", []change{
		{"policy/kuma/internal/selection/miss.go", `role != permission.RoleProducer && w.Origin`, `!FAULT && role != permission.RoleProducer && w.Origin`},
		{"policy/kuma/internal/evaluation/select.go", `role != "producer" && p.Labels["kuma.io/origin"]`, `!FAULT && role != "producer" && p.Labels["kuma.io/origin"]`},
	}},
	{"a producer's policy stays in its zone", []change{
		{"policy/kuma/internal/selection/miss.go", `role != permission.RoleProducer && w.Origin`, `(FAULT || role != permission.RoleProducer) && w.Origin`},
		{"policy/kuma/internal/evaluation/select.go", `role != "producer" && p.Labels["kuma.io/origin"]`, `(FAULT || role != "producer") && p.Labels["kuma.io/origin"]`},
	}},
	{"a section has no weight", []change{
		{"policy/kuma/internal/selection/select.go", `if p.Target.Section != "" {`, `if p.Target.Section != "" && !FAULT {`},
		{"policy/kuma/internal/evaluation/select.go", `if p.Target.Section != "" {`, `if p.Target.Section != "" && !FAULT {`},
	}},
	{"the weights of the origins are swapped", []change{
		{"policy/kuma/internal/selection/select.go", `	r.weight[3] =`, "	if FAULT {\n		r.weight[2] = 2 - r.weight[2]\n	}\n	r.weight[3] ="},
		{"policy/kuma/internal/evaluation/select.go", `	return [4]int{`, "	if FAULT {\n		return [4]int{int(p.Target.Kind), section, 2 - slices.Index([]string{\"global\", \"\", \"zone\"}, p.Labels[\"kuma.io/origin\"]), slices.Index([]string{\"system\", \"producer\", \"consumer\", \"workload-owner\"}, roleOf(p, opts))}\n	}\n	return [4]int{"},
	}},
	{"the section is not compared", []change{
		{"policy/kuma/internal/selection/miss.go", `if t.Section != "" && t.Section != in.Section() {`, `if !FAULT && t.Section != "" && t.Section != in.Section() {`},
		{"policy/kuma/internal/evaluation/select.go", `return t.Section == "" ||`, `return FAULT || t.Section == "" ||`},
	}},
	{"the name of the Dataplane is not compared", []change{
		{"policy/kuma/internal/selection/miss.go", `t.Name != "" && t.Name != got`, `!FAULT && t.Name != "" && t.Name != got`},
		{"policy/kuma/internal/evaluation/select.go", `if !legacy && t.Name != ""`, `if !FAULT && !legacy && t.Name != ""`},
	}},
	{"only the first label is compared", []change{
		{"policy/kuma/internal/selection/miss.go", "	for _, want := range t.Labels {\n		if got := workloadLabel", "	for i, want := range t.Labels {\n		if FAULT && i > 0 {\n			break\n		}\n		if got := workloadLabel"},
		{"policy/kuma/internal/evaluation/select.go", "	for _, want := range t.Labels {\n", "	for i, want := range t.Labels {\n		if FAULT && i > 0 {\n			break\n		}\n"},
	}},
	{"the label of a namespace alone makes a policy the operator's", []change{
		{"policy/kuma/internal/selection/select.go", `p.ID.Namespace == system && p.Namespace == system`, `p.ID.Namespace == system && (FAULT || p.Namespace == system)`},
		{"policy/kuma/internal/evaluation/select.go", `case p.Namespace == system && p.ID.Namespace == system:`, `case (FAULT || p.Namespace == system) && p.ID.Namespace == system:`},
	}},
	{"a selector does not ask for the lack of a label", []change{
		{"policy/gateway/internal/authorization/lower.go", "	for _, r := range requirements {\n", "	for _, r := range requirements {\n		if FAULT && r.Operator() == selection.DoesNotExist {\n			continue\n		}\n"},
		{"policy/gateway/internal/evaluation/evaluate.go", "	for _, e := range selector.MatchExpressions {\n", "	for _, e := range selector.MatchExpressions {\n		if FAULT && e.Operator == \"DoesNotExist\" {\n			continue\n		}\n"},
	}},
	{"a port is not compared", []change{
		{"policy/gateway/internal/authorization/lower.go", `if a := rule.NetworkAttributes; a != nil`, `if a := rule.NetworkAttributes; !FAULT && a != nil`},
		{"policy/gateway/internal/evaluation/evaluate.go", `if rule.NetworkAttributes == nil ||`, `if FAULT || rule.NetworkAttributes == nil ||`},
	}},
}

// faultVariable names the fault that the test program has.
const faultVariable = "MESHPROOF_TEST_FAULT"

// A fault that the oracle, the compiler and the plain evaluator share contradicts the known
// answers, which every proof is held against.
func TestKnownAnswersFindCommonFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it builds the module with faults")
	}
	t.Parallel()
	program := buildWithFaults(t)
	run := func(fault string) (string, error) {
		command := exec.CommandContext(t.Context(), program, "-test.run", "^TestKnownAnswers$")
		command.Env = append(os.Environ(), faultVariable+"="+fault)
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := run(""); err != nil {
		t.Fatalf("without a fault: %v\n%s", err, out)
	}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if out, err := run(f.name); err == nil || !strings.Contains(out, "the case ") {
				t.Errorf("no known answer contradicts the fault: %v\n%s", err, out)
			}
		})
	}
}

// buildWithFaults builds the tests of this package with all faults in it. A variable of the
// environment chooses the fault that is there.
func buildWithFaults(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, f := range faults {
		for _, c := range f.changes {
			path := filepath.Join(root, c.file)
			if texts[path] == "" {
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				texts[path] = string(data)
				parsed, err := parser.ParseFile(token.NewFileSet(), path, data, parser.PackageClauseOnly)
				if err != nil {
					t.Fatal(err)
				}
				texts[filepath.Join(filepath.Dir(path), "fault_overlay.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar faultOfTest = os.Getenv(%q)\n", parsed.Name, faultVariable)
			}
			if n := strings.Count(texts[path], c.old); n != 1 {
				t.Fatalf("%s: %s has %q %d times: mend the table", f.name, c.file, c.old, n)
			}
			texts[path] = strings.Replace(texts[path], c.old, strings.ReplaceAll(c.faulty, "FAULT", fmt.Sprintf("(faultOfTest == %q)", f.name)), 1)
		}
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "proof.test")
	content, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-overlay", overlay, "-o", program, "./internal/proof")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
