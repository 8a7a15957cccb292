package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/folder"
)

// fakeGH replaces GitHub's command line. The folder NIGHTS has the reports of the runs. Its
// file open has the number of the open issue, and the script writes an issue to its file
// issue.
const fakeGH = `#!/bin/sh
case "$1 $2" in
"run list") echo 7; echo 6; echo 5 ;;
"run download") [ -d "$NIGHTS/$3" ] && cp "$NIGHTS/$3"/* "$7" ;;
"issue list") [ "$3 $4" = "--state open" ] && cat "$NIGHTS/open" 2>/dev/null || true ;;
"issue create") [ "$(wc -m <"$6")" -le 65536 ] && { echo "$3 $4"; cat "$6"; } >>"$NIGHTS/issue" ;;
"issue comment") [ "$(wc -m <"$5")" -le 65536 ] && { echo "comment on $3"; cat "$5"; } >>"$NIGHTS/issue" ;;
*) echo "gh $*: this call is not expected" >&2; exit 9 ;;
esac
`

// On every version, the night runs the cases in containers, and all tests with Docker: no job
// is green because it found none.
func TestNightlyRequiresDocker(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix map[string]any
			}
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "nightly.yml"))
	if err == nil {
		err = yaml.Unmarshal(text, &workflow)
	}
	if err != nil {
		t.Fatal(err)
	}
	tests, containers, natives := 0, 0, 0
	for name, job := range workflow.Jobs {
		everyVersion := job.Strategy.Matrix["envoy"] == "${{ fromJSON(needs.versions.outputs.envoy) }}"
		for _, step := range job.Steps {
			switch {
			case step.Run == "make gofuzz":
				natives++ // these targets ask no Envoy
			case strings.HasPrefix(step.Run, "make "), strings.HasPrefix(step.Run, "go test"):
				tests++
				if step.Env["MESHPROOF_SEED"] != "random" {
					t.Errorf("job %s: %q draws the same values each night", name, step.Run)
				}
				if step.Env["MESHPROOF_REQUIRE_DOCKER"] != "1" || step.Env["MESHPROOF_REQUIRE_BROWSER"] != "1" || !everyVersion {
					t.Errorf("job %s: %q runs without Docker too, or not on every version", name, step.Run)
				}
			case strings.Contains(step.Run, "--runtime ${{ matrix.runtime }}") && everyVersion:
				runtimes, _ := job.Strategy.Matrix["runtime"].([]any)
				if slices.Contains(runtimes, "container") && slices.Contains(runtimes, "process") {
					containers++
				}
			case strings.Contains(step.Run, "--runtime auto"):
				t.Errorf("job %s: %q takes any runtime", name, step.Run)
			}
		}
	}
	if tests == 0 || containers == 0 || natives == 0 {
		t.Errorf("%d steps run the tests, %d the cases in containers, %d the fuzz targets of Go", tests, containers, natives)
	}
}

// What the workflows run is there: targets and variables of make, scripts, commands and flags.
func TestWorkflowsRunWhatThereIs(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ci.yml", "nightly.yml"} {
		var workflow struct {
			Jobs map[string]struct {
				Strategy struct{ Matrix map[string]any }
				Steps    []struct{ Run string }
			}
		}
		text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", name))
		if err == nil {
			err = yaml.Unmarshal(text, &workflow)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				for _, run := range expansions(step.Run, job.Strategy.Matrix) {
					words := strings.Fields(run)
					switch {
					case len(words) == 0:
					case words[0] == "make":
						for _, word := range words[1:] {
							variable, _, isVariable := strings.Cut(word, "=")
							rule := `(?m)^` + regexp.QuoteMeta(word) + `:`
							if isVariable {
								rule = `(?m)^` + regexp.QuoteMeta(variable) + ` \?=`
							}
							if !regexp.MustCompile(rule).Match(makefile) {
								t.Errorf("%s: %q: the Makefile has no %s", name, run, word)
							}
						}
					case strings.HasPrefix(words[0], ".github/"):
						if info, err := os.Stat(filepath.Join(root, words[0])); err != nil || info.Mode()&0o100 == 0 {
							t.Errorf("%s: %q: no script: %v", name, run, err)
						}
					case strings.HasPrefix(run, "go run ./cmd/meshproof "), words[0] == "meshproof":
						words = words[slices.IndexFunc(words, func(w string) bool { return strings.HasSuffix(w, "meshproof") })+1:]
						cmd, rest, err := newRoot().Find(words)
						if err == nil {
							err = cmd.ParseFlags(rest)
						}
						if err == nil {
							err = cmd.ValidateArgs(cmd.Flags().Args())
						}
						if err != nil || cmd.Name() == "meshproof" {
							t.Errorf("%s: %q: %v", name, run, err)
						}
					}
				}
			}
		}
	}
}

// expansions returns what a step runs in each cell of a matrix, without what only GitHub knows.
func expansions(run string, matrix map[string]any) []string {
	out := []string{run}
	put := func(cell map[string]any) {
		for _, one := range out {
			for key, value := range cell {
				one = strings.ReplaceAll(one, "${{ matrix."+key+" }}", fmt.Sprint(value))
			}
			out = append(out, one)
		}
	}
	for key, values := range matrix {
		switch values := values.(type) {
		case []any:
			for _, value := range values {
				if cell, ok := value.(map[string]any); ok {
					put(cell)
				} else {
					put(map[string]any{key: value})
				}
			}
		default: // the pinned versions
			put(map[string]any{key: "1.40.0"})
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(one string) bool { return strings.Contains(one, "${{ matrix.") })
}

// The variables that Go code reads are in the documents. Those of one test alone are not.
func TestVariablesAreDocumented(t *testing.T) {
	t.Parallel()
	documented, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	read, found := regexp.MustCompile(`(?:os\.Getenv|os\.LookupEnv)\("((?:MESH|ENVOY|DOCKER|CHROM)[A-Z_]+)"\)`), map[string]bool{}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range read.FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"MESHPROOF_ENVOY", "MESHPROOF_REQUIRE_DOCKER", "MESHPROOF_REQUIRE_BROWSER", "ENVOY_BIN"} {
		if !found[name] {
			t.Errorf("no file reads %s: the search is broken", name)
		}
	}
	for name := range found {
		if !strings.Contains(string(documented), "`"+name+"=1`") && !strings.Contains(string(documented), "`"+name+"`") {
			t.Errorf("docs/testing.md does not name %s", name)
		}
	}
}

// The nightly workflow opens an issue on a new difference, and only then.
func TestNightlyComparison(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	for name, tt := range map[string]struct {
		nights map[string]string // what the request of the only case became, by run
		open   string            // the number of the open issue
		status int
		said   string
		issue  string
	}{
		"no earlier night":                         {map[string]string{"7": "allow"}, "", 0, "there is nothing to compare with", ""},
		"the same as last night":                   {map[string]string{"7": "allow", "6": "allow", "5": "deny"}, "", 0, "every decision is that of run 6", ""},
		"other than last night":                    {map[string]string{"7": "allow", "6": "deny"}, "", 0, "", "--title nightly: decisions differ from run 6"},
		"other than the last night with a report":  {map[string]string{"7": "allow", "5": "deny"}, "", 0, "", "--title nightly: decisions differ from run 5"},
		"other again":                              {map[string]string{"7": "allow", "6": "deny"}, "41", 0, "", "comment on 41\n"},
		"last night's report is none that is read": {map[string]string{"7": "allow", "6": "broken"}, "", 2, "report: load ", ""},
		"other evidence of the same decision":      {map[string]string{"7": "allow", "6": "slow"}, "", 0, "every decision is that of run 6", ""},
		"a thousand decisions":                     {map[string]string{"7": "many allow", "6": "many deny"}, "", 0, "", "--title nightly: decisions differ from run 6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for run, outcome := range tt.nights {
				night(t, filepath.Join(dir, run), outcome)
			}
			if tt.open != "" {
				if err := os.WriteFile(filepath.Join(dir, "open"), []byte(tt.open+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			gh := filepath.Join(dir, "bin", "gh")
			if err := os.MkdirAll(filepath.Dir(gh), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(gh, []byte(fakeGH), 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "bash", filepath.Join(root, ".github", "scripts", "compare.sh"), filepath.Join(dir, "7"), "7")
			cmd.Env = append(os.Environ(), "NIGHTS="+dir, "PATH="+filepath.Dir(gh)+":"+os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0")
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
			if clipped := strings.Contains(string(issue), "longer than an issue may be. The log of run 7"); clipped != strings.HasPrefix(tt.nights["7"], "many") {
				t.Errorf("clipped: %t; %d bytes", clipped, len(issue))
			}
		})
	}
}

// night writes the report of one run.
func night(t *testing.T, dir, outcome string) {
	t.Helper()
	run := report.Run{Implementation: report.Implementation{Project: "p"}, Envoy: "1.40.0", Runtime: "process", Meshproof: "v1"}
	request := report.Request{From: "a", To: "b/1", Want: "allow", Passed: true, Outcome: outcome, Shadow: "none"}
	requests := []report.Request{request}
	switch kind, decision, many := strings.Cut(outcome, " "); {
	case many:
		requests = nil
		request.Outcome = decision
		for i := range 1000 {
			request.Path = fmt.Sprintf("/%s/%d/%s", kind, i, strings.Repeat("x", 60))
			requests = append(requests, request)
		}
	case outcome == "slow":
		requests[0].Outcome, requests[0].Evidence.Caller = "allow", "HTTP 200 at last"
	}
	run.Add(report.Case{Case: "the only case", Place: "a.yaml:1", Passed: true, Requests: requests})
	if err := folder.Write(dir, []report.Run{run}); err != nil {
		t.Fatal(err)
	}
	if outcome == "broken" {
		if err := os.WriteFile(filepath.Join(dir, "results-1.40.0.json"), []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
