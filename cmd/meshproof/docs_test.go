package main

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
)

// root is the root of the module. The commands of the documents run there.
var root = filepath.Join("..", "..")

var (
	fence  = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	saveAs = regexp.MustCompile("Save it as `([^`]+)`")
	link   = regexp.MustCompile(`\]\(([^)#:]+)[^)]*\)`)
	goDoc  = regexp.MustCompile("`(go doc [^`]+)`")
)

// The commands in the documents work as the documents say.
func TestDocuments(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
					t.Errorf("the link to %s leads nowhere: %v", m[1], err)
				}
			}
			dir := t.TempDir()
			// A command may name the files of the checkout.
			for _, name := range []string{"cases", "deploy", "docs", "examples"} {
				checkout, err := filepath.Abs(filepath.Join(root, name))
				if err == nil {
					err = os.Symlink(checkout, filepath.Join(dir, name))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if name := saveAs.FindStringSubmatch(text); name != nil {
				saveCase(t, filepath.Join(dir, name[1]), text)
			}
			commands := documented(text)
			if len(commands) == 0 && filepath.Base(file) == "README.md" {
				t.Error("the README has no command")
			}
			// They run one after the other: a command may read what an earlier one wrote.
			for _, c := range commands {
				t.Run(strings.Join(c.words, " "), func(t *testing.T) { try(t, dir, c) })
			}
		})
	}
}

// command is a command in a document.
type command struct {
	words []string
	// status is the exit status of the command, as the document states it.
	status int
}

var exitsWith = regexp.MustCompile(`exits with (\d+)`)

// documented lists the commands of the shell blocks; in a console block they
// follow a prompt.
func documented(text string) (commands []command) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[2]) {
			line, ok := line, m[1] == "sh"
			if m[1] == "console" {
				line, ok = strings.CutPrefix(line, "$ ")
			}
			words, comment := splitCommand(line)
			c := command{words: words}
			if said := exitsWith.FindStringSubmatch(comment); said != nil {
				c.status, _ = strconv.Atoi(said[1])
			}
			if ok && len(c.words) > 0 {
				commands = append(commands, c)
			}
		}
	}
	for _, m := range goDoc.FindAllStringSubmatch(text, -1) {
		commands = append(commands, command{words: strings.Fields(m[1])})
	}
	return commands
}

// saveCase writes the case of a document to a file, and checks that there is exactly one.
func saveCase(t *testing.T, file, text string) {
	t.Helper()
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		if m[1] == "yaml" {
			if err := os.WriteFile(file, []byte(m[2]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cs, err := cases.Load(file); err != nil || len(cs) != 1 {
		t.Fatalf("the document has %d cases, want 1: %v", len(cs), err)
	}
}

func try(t *testing.T, dir string, c command) {
	t.Helper()
	words := c.words
	for _, word := range words {
		program, _, several := strings.Cut(word, " ")
		if _, err := exec.LookPath(program); several && program == "python3" && err != nil {
			t.Skip("python3 is not installed")
		}
	}
	switch {
	case testing.Short() && isSlow(words):
		// This holds that the command and its flags exist.
		meshproof(t, dir, append(slices.Clone(words[1:]), "--help"))
	case words[0] == "make" && len(words) == 2:
		tryMake(t, words[1])
	case len(words) > 3 && slices.Equal(words[:3], []string{"meshproof", "inspect", "serve"}):
		tryServe(t, words[3:])
	case words[0] == "curl" && len(words) == 2:
		tryFetch(t, words[1])
	case slices.Equal(words, []string{"go", "install", "./cmd/meshproof"}):
		// The test binary replaces the installed command.
	case slices.Equal(words, []string{"kubectl", "create", "-f", "deploy/job.yaml"}), slices.Equal(words, []string{"kubectl", "apply", "-f", "deploy/pvc.yaml"}):
		// The tests of package deploy run the manifests.
	case slices.Contains(words, "--ads"):
		tryADS(t, dir, words[1:])
	case words[0] == "meshproof":
		meshproofExits(t, dir, words[1:], c.status)
	case len(words) > 3 && slices.Equal(words[:3], []string{"go", "run", "./cmd/meshproof"}):
		meshproofExits(t, dir, words[3:], c.status)
	case len(words) > 2 && words[0] == "go" && words[1] == "doc":
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	default:
		t.Errorf("no check knows %q: add it to this test", words)
	}
}

// slowCommands begin the commands that boot Envoy for many cases or classes, or whose cases run in other tests. With
// -short none is run, and no command for all versions of Envoy. A later command of the same document needs nothing that
// one writes.
var slowCommands = []string{"advisories", "prove", "fuzz", "mutate", "run cases/kuma/shadow-workflow.yaml", "run examples/dialects/traps", "run --profile", "run --compiler", "run --ads", "run cases/istio", "run cases/gateway", "run cases/linkerd", "run cases/cilium"}

func isSlow(words []string) bool {
	line := strings.Join(words, " ") + " "
	return strings.Contains(line, " --envoy all ") || slices.ContainsFunc(slowCommands, func(c string) bool { return strings.HasPrefix(line, "meshproof "+c+" ") })
}

// meshproof runs a command line that has to succeed, and returns its output.
func meshproof(t *testing.T, dir string, args []string) string {
	t.Helper()
	return meshproofExits(t, dir, args, 0)
}

// meshproofExits runs a command line that has to print something and to end with the status.
func meshproofExits(t *testing.T, dir string, args []string, status int) string {
	t.Helper()
	cmd := exec.Command("meshproof", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), surroundings(t)...)
	out, err := cmd.Output()
	said := ""
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		said = string(exit.Stderr)
	}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status || len(out) == 0 {
		t.Errorf("meshproof %s: %v, want exit status %d\n%s%s", strings.Join(args, " "), err, status, out, said)
	}
	return string(out)
}

// tryMake checks the recipe of a target, and runs its commands, except the tests.
func tryMake(t *testing.T, target string) {
	t.Helper()
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not installed")
	}
	cmd := exec.Command("make", "--no-print-directory", "--dry-run", target)
	cmd.Dir = root
	// The make that runs this test may have set variables for all below it.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES", "ENVOY", "GO", "TEST_FLAGS"}, name)
	})
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	recipe := string(out)
	switch target {
	case "run":
		args, ok := strings.CutPrefix(strings.TrimSpace(recipe), "go run ./cmd/meshproof ")
		if want := "run --quiet --envoy " + harness.DefaultVersion; !ok || args != want {
			t.Fatalf("make run does %q, want meshproof %s", recipe, want)
		}
		if testing.Short() {
			t.Skip("slow: it runs all cases, which package cases/e2e runs too")
		}
		// Without --quiet it names each case.
		checkStories(t, meshproof(t, t.TempDir(), []string{"run", "--envoy", testedEnvoy()}))
	case "matrix":
		args, ok := strings.CutPrefix(strings.TrimSpace(recipe), "go run ./cmd/meshproof ")
		if want := "run --envoy all --report matrix"; !ok || args != want {
			t.Errorf("make matrix does %q, want meshproof %s", recipe, want)
		}
	case "versions", "times", "sample", "image":
		if !strings.Contains(recipe, "./cmd/meshproof") {
			t.Errorf("make %s does %q, nothing with meshproof", target, recipe)
		}
	case "check", "slow":
		if !strings.Contains(recipe, "MESHPROOF_ENVOY="+harness.DefaultVersion+" go test ") {
			t.Errorf("make %s does %q, no test on the default version", target, recipe)
		}
	case "test":
		for _, want := range []string{"go vet ./...", "go run ./cmd/meshproof envoy fetch " + harness.DefaultVersion + "\n", "MESHPROOF_ENVOY=" + harness.DefaultVersion + " go test "} {
			if !strings.Contains(recipe, want) {
				t.Errorf("make test does not %s:\n%s", want, recipe)
			}
		}
		races := exec.Command("go", "build", "-race", "runtime/cgo").Run() == nil
		if races != strings.Contains(recipe, " -race ") {
			t.Errorf("make test does not look for races where it can, and only there (it can: %t):\n%s", races, recipe)
		}
		checkEveryPackage(t, recipe)
		meshproof(t, t.TempDir(), []string{"envoy", "fetch", testedEnvoy()})
	default:
		t.Errorf("no check knows make %s: add it to this test", target)
	}
}

// checkEveryPackage shows that the commands of a recipe test each package once: some with the
// race detector, the others without it.
func checkEveryPackage(t *testing.T, recipe string) {
	t.Helper()
	const module = "github.com/meshproof/meshproof"
	list := exec.Command("go", "list", "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var tested []string
	for line := range strings.Lines(recipe) {
		// A command with -run runs what another left out: internal/architecture holds that.
		if _, args, ok := strings.Cut(line, " go test "); ok && !strings.Contains(args, " -run ") {
			for _, arg := range strings.Fields(args) {
				if pkg := strings.Replace(arg, "./", module+"/", 1); strings.HasPrefix(pkg, module) {
					tested = append(tested, pkg)
				}
			}
		}
	}
	slices.Sort(tested)
	if diff := cmp.Diff(strings.Fields(string(out)), tested); diff != "" {
		t.Errorf("make test does not test each package once (-packages +tested):\n%s", diff)
	}
}

// checkStories compares the output of a run with the stories.
func checkStories(t *testing.T, out string) {
	t.Helper()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stories {
		ran := strings.Contains(out, "  ✓ "+c.Name+"\n")
		if c.Gate.String() != "" {
			ran = ran || strings.Contains(out, "  ○ "+c.Name+"\n")
		}
		if !strings.Contains(out, "\n✓ "+c.Story+": ") && !strings.HasPrefix(out, "✓ "+c.Story+": ") || !ran {
			t.Errorf("story %s, case %q did not pass:\n%s", c.Story, c.Name, out)
		}
	}
	if header := strings.Fields(strings.Split(out, "\n")[1]); !slices.Equal(header[:4], []string{"decision", "by", "shadow", "caller"}) {
		t.Errorf("the columns are %q", header)
	}
}

// tryADS runs the example control plane for a command that names its address.
func tryADS(t *testing.T, dir string, args []string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "controlplane")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "./examples/controlplane")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	plane := exec.Command(program, "--listen", "127.0.0.1:0")
	stdout, err := plane.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := plane.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = plane.Process.Signal(os.Interrupt)
		_ = plane.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	args = slices.Clone(args)
	args[slices.Index(args, "--ads")+1] = strings.TrimSpace(strings.TrimPrefix(line, "serving ADS on "))
	meshproof(t, dir, args)
}

// splitCommand splits a line as a shell does that knows single quotes only, and takes
// the comment off.
func splitCommand(line string) (words []string, comment string) {
	var word strings.Builder
	begun, quoted := false, false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i, r := range line {
		switch {
		case r == '\'':
			begun, quoted = true, !quoted
		case quoted || !unicode.IsSpace(r) && (r != '#' || begun):
			begun = true
			word.WriteRune(r)
		case r == '#':
			return words, line[i+1:]
		default:
			end()
		}
	}
	end()
	return words, ""
}

func TestSplitCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]command{
		"meshproof run a.yaml":                        {words: []string{"meshproof", "run", "a.yaml"}},
		"  run --compiler 'python3 a # b' ''  # says": {words: []string{"run", "--compiler", "python3 a # b", ""}},
		"run a#b  # exits with 1\n":                   {words: []string{"run", "a#b"}},
		"--x='a b'c\n":                                {words: []string{"--x=a bc"}},
		"# nothing":                                   {},
	} {
		if words, _ := splitCommand(line); !slices.Equal(words, want.words) {
			t.Errorf("%q: %q, want %q", line, words, want.words)
		}
	}
	if _, comment := splitCommand("run 'a # b' # exits with 1"); comment != " exits with 1" {
		t.Errorf("the comment is %q", comment)
	}
}
