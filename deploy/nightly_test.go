package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/conformance/report"
)

// fakeGH stands for GitHub's command line: the folder nights has the report of each run
// that has one, and the issue goes into a file.
const fakeGH = `#!/bin/sh
case "$1 $2" in
"run list") echo 7; echo 6; echo 5 ;;
"run download") [ -d "$NIGHTS/$3" ] && cp "$NIGHTS/$3"/* "$7" ;;
"issue create") shift 2; echo "$1 $2" >>"$NIGHTS/issue"; cat "$4" >>"$NIGHTS/issue" ;;
*) echo "gh $*: nobody expects this" >&2; exit 9 ;;
esac
`

// The nightly workflow opens an issue on a new difference, and only then.
func TestNightlyComparison(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	for name, tt := range map[string]struct {
		nights map[string]string // what the request of the only case became, by run
		status int
		said   string
		issue  string
	}{
		"no earlier night":                         {map[string]string{"7": "allow"}, 0, "there is nothing to compare with", ""},
		"the same as last night":                   {map[string]string{"7": "allow", "6": "allow", "5": "deny"}, 0, "every decision is that of run 6", ""},
		"other than last night":                    {map[string]string{"7": "allow", "6": "deny"}, 0, "", "--title nightly: decisions differ from run 6"},
		"other than the last night with a report":  {map[string]string{"7": "allow", "5": "deny"}, 0, "", "--title nightly: decisions differ from run 5"},
		"last night's report is none that is read": {map[string]string{"7": "allow", "6": "broken"}, 2, "report: load ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for run, outcome := range tt.nights {
				night(t, filepath.Join(dir, run), outcome)
			}
			gh := filepath.Join(dir, "bin", "gh")
			if err := os.MkdirAll(filepath.Dir(gh), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(gh, []byte(fakeGH), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", "../.github/scripts/compare.sh", filepath.Join(dir, "7"), "7")
			cmd.Env = append(os.Environ(), "NIGHTS="+dir, "PATH="+filepath.Dir(gh)+":"+filepath.Dir(build(t))+":"+os.Getenv("PATH"))
			out, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != tt.status || !strings.Contains(string(out), tt.said) {
				t.Errorf("status %d, want %d and %q:\n%s", got, tt.status, tt.said, out)
			}
			issue, err := os.ReadFile(filepath.Join(dir, "issue"))
			if opened := err == nil; opened != (tt.issue != "") || !strings.HasPrefix(string(issue), tt.issue) {
				t.Errorf("issue %q, want %q", issue, tt.issue)
			}
			if tt.issue != "" && (!strings.Contains(string(issue), "deny") || !strings.Contains(string(issue), "the only case")) {
				t.Errorf("the issue does not say what differs: %s", issue)
			}
		})
	}
}

// night writes the report of one run.
func night(t *testing.T, dir, outcome string) {
	t.Helper()
	run := report.Run{Implementation: report.Implementation{Project: "p"}, Envoy: "1.40.0", Runtime: "process", Meshproof: "v1"}
	run.Add(report.Case{Case: "the only case", Place: "a.yaml:1", Passed: true, Requests: []report.Request{
		{From: "a", To: "b/1", Want: "allow", Passed: true, Outcome: outcome, Shadow: "none"},
	}})
	if err := report.Write(dir, []report.Run{run}); err != nil {
		t.Fatal(err)
	}
	if outcome == "broken" {
		if err := os.WriteFile(filepath.Join(dir, "results-1.40.0.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
