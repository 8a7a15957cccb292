package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/terminal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// programs are what the tests run this binary as, by name.
var programs = map[string]func(){"meshproof": program, "stuck": stuck}

func TestMain(m *testing.M) { testscript.Main(m, programs) }

// program is [main] without the lines that a busy machine adds: the output of a script is compared.
func program() {
	terminal.HideElsewhere()
	main()
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               func(env *testscript.Env) error { env.Vars = append(env.Vars, surroundings(t)...); return nil },
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":       exits,
			"refuses":     refuses,
			"query":       query,
			"pastes":      pastes,
			"nothingleft": nothingLeft,
		},
	})
}

// testedEnvoy is the version under test. A matrix sets it by an environment variable.
func testedEnvoy() string { return cmp.Or(os.Getenv("MESHPROOF_ENVOY"), harness.DefaultVersion) }

// surroundings returns the environment of a script: the cache of binaries, the version under
// test, and no Docker daemon, so that auto means a process.
func surroundings(t *testing.T) []string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Abs(filepath.Join(root, "examples"))
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"EXAMPLES=" + examples,
		"HOME=" + os.Getenv("HOME"), "XDG_CACHE_HOME=" + cache, "ENVOY=" + testedEnvoy(),
		"DOCKER_HOST=unix:///nonexistent/docker.sock", "ENVOY_BIN=", "ENVOY_IMAGE=",
		// A race-enabled program sleeps for a second before it exits.
		"GORACE=atexit_sleep_ms=0",
		// Each program runs for a moment, and collecting garbage is a quarter of its time.
		"GOGC=" + os.Getenv("GOGC"),
	}
}

// exits runs "exits STATUS COMMAND…", because "! exec" accepts any failure.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := status(ts, ts.Exec(args[1], args[2:]...)); got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func status(ts *testscript.TestScript, err error) int {
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if err == nil {
		return 0
	}
	return exit.ExitCode()
}

// refuses runs "refuses REGEXP ARGUMENT…": meshproof must exit with status 2, say
// nothing on standard output, and say why on exactly one line that the pattern
// matches from end to end.
func refuses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refuses REGEXP ARGUMENT…")
	}
	want, err := regexp.Compile(`^meshproof: (?:` + args[0] + `)\n$`)
	ts.Check(err)
	got := status(ts, ts.Exec("meshproof", args[1:]...))
	if got != exitUsage {
		ts.Fatalf("exit status %d, want %d", got, exitUsage)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("it wrote a result: %s", out)
	}
	if said := ts.ReadFile("stderr"); strings.Count(said, "\n") != 1 || !want.MatchString(said) {
		ts.Fatalf("want one line: %s", want)
	}
}

// query runs "query FILE TEMPLATE WANT": the text/template, given the JSON of the
// file, must print WANT.
func query(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: query FILE TEMPLATE WANT")
	}
	var data any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &data))
	tmpl, err := template.New("query").Option("missingkey=error").Parse(args[1])
	ts.Check(err)
	var got bytes.Buffer
	ts.Check(tmpl.Execute(&got, data))
	if got.String() != args[2] {
		ts.Fatalf("%s is %q, want %q", args[1], got.String(), args[2])
	}
}

// explainLine is a decision of the policies, or the command that explains it, as they are
// printed.
var explainLine = regexp.MustCompile(`(?m)^ +policies +([^;\n]+).*$|^ +explain +(meshproof explain .*)$`)

// pastes runs "pastes N": standard output must have N lines with a command that explains a
// request. A shell runs each, and it must print the decision that stands before the command,
// if one does. Their output is then the standard output of the last command.
func pastes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: pastes N")
	}
	printed, decision, n, script := ts.ReadFile("stdout"), "", 0, "set -e\n"
	for _, line := range explainLine.FindAllStringSubmatch(printed, -1) {
		if line[2] == "" {
			decision = line[1]
			continue
		}
		ts.Check(ts.Exec("sh", "-c", line[2]))
		if said := ts.ReadFile("stdout"); decision != "" && !strings.Contains(said, "\ndecision  "+decision+"\n") {
			ts.Fatalf("%s: the decision is another one than %s", line[2], decision)
		}
		n, decision, script = n+1, "", script+line[2]+"\n"
	}
	if strconv.Itoa(n) != args[0] {
		ts.Fatalf("there are %d commands", n)
	}
	ts.Check(ts.Exec("sh", "-c", script))
}

// nothingLeft checks that a script left no run directory and no process behind.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: nothingleft")
	}
	if left := leftBehind(ts.Getenv("TMPDIR")); len(left) > 0 {
		ts.Fatalf("left behind: %s", strings.Join(left, ", "))
	}
}
