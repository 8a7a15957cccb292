package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/envoy"
)

// root is the root of the module, where the documents' commands are to be run.
var root = filepath.Join("..", "..")

var (
	fence  = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	saveAs = regexp.MustCompile("Save it as `([^`]+)`")
	link   = regexp.MustCompile(`\]\(([^)#:]+)[^)]*\)`)
	goDoc  = regexp.MustCompile("`(go doc [^`]+)`")
)

// What the documents tell a reader to do works as they tell it.
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
			checkout, err := filepath.Abs(filepath.Join(root, "cases"))
			if err == nil {
				err = os.Symlink(checkout, filepath.Join(dir, "cases"))
			}
			if err != nil {
				t.Fatal(err)
			}
			if name := saveAs.FindStringSubmatch(text); name != nil {
				saveCase(t, filepath.Join(dir, name[1]), text)
			}
			commands := documented(text)
			if len(commands) == 0 && filepath.Base(file) == "README.md" {
				t.Error("the README has no command")
			}
			for _, command := range commands {
				t.Run(strings.Join(command, " "), func(t *testing.T) {
					t.Parallel()
					try(t, dir, command)
				})
			}
		})
	}
}

// documented lists the commands of the shell blocks; in a console block they
// follow a prompt.
func documented(text string) (commands [][]string) {
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[2]) {
			command, ok := line, m[1] == "sh"
			if m[1] == "console" {
				command, ok = strings.CutPrefix(line, "$ ")
			}
			command, _, _ = strings.Cut(command, " #")
			if words := strings.Fields(command); ok && len(words) > 0 {
				commands = append(commands, words)
			}
		}
	}
	for _, m := range goDoc.FindAllStringSubmatch(text, -1) {
		commands = append(commands, strings.Fields(m[1]))
	}
	return commands
}

// saveCase writes the one case of a document and checks that it is one.
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

func try(t *testing.T, dir string, command []string) {
	t.Helper()
	switch {
	case command[0] == "make" && len(command) == 2:
		tryMake(t, command[1])
	case len(command) > 3 && slices.Equal(command[:3], []string{"meshproof", "inspect", "serve"}):
		tryServe(t, command[3:])
	case command[0] == "curl" && len(command) == 2:
		tryFetch(t, command[1])
	case slices.Equal(command, []string{"go", "install", "./cmd/meshproof"}):
		// The test binary stands for what this installs.
	case command[0] == "meshproof":
		meshproof(t, dir, command[1:])
	case len(command) > 3 && slices.Equal(command[:3], []string{"go", "run", "./cmd/meshproof"}):
		meshproof(t, dir, command[3:])
	case len(command) > 2 && command[0] == "go" && command[1] == "doc":
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	default:
		t.Errorf("nobody checks %q: teach this test what it should do", command)
	}
}

// meshproof runs a command line that has to end well and returns what it printed.
func meshproof(t *testing.T, dir string, args []string) string {
	t.Helper()
	cmd := exec.Command("meshproof", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), surroundings(t)...)
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		said := ""
		if exit, ok := err.(*exec.ExitError); ok {
			said = string(exit.Stderr)
		}
		t.Errorf("meshproof %s: %v\n%s%s", strings.Join(args, " "), err, out, said)
	}
	return string(out)
}

// tryMake looks at what make would do, and does it as far as it is not this test
// itself.
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
		if want := "run --envoy " + envoy.DefaultVersion; !ok || args != want {
			t.Fatalf("make run does %q, want meshproof %s", recipe, want)
		}
		checkStories(t, meshproof(t, t.TempDir(), []string{"run", "--envoy", testedEnvoy()}))
	case "test":
		for _, want := range []string{"go vet ./...", "go run ./cmd/meshproof envoy fetch " + envoy.DefaultVersion + "\n", "MESHPROOF_ENVOY=" + envoy.DefaultVersion + " go test "} {
			if !strings.Contains(recipe, want) {
				t.Errorf("make test does not %s:\n%s", want, recipe)
			}
		}
		races := exec.Command("go", "build", "-race", "runtime/cgo").Run() == nil
		if races != strings.Contains(recipe, " -race ") {
			t.Errorf("make test does not look for races where it can, and only there (it can: %t):\n%s", races, recipe)
		}
		if !strings.HasSuffix(strings.TrimSpace(recipe), " ./...") {
			t.Errorf("make test does not test everything:\n%s", recipe)
		}
		meshproof(t, t.TempDir(), []string{"envoy", "fetch", testedEnvoy()})
	default:
		t.Errorf("nobody checks make %s: teach this test what it should do", target)
	}
}

// checkStories holds the output of a run against what the README says of it.
func checkStories(t *testing.T, out string) {
	t.Helper()
	stories, err := cases.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range stories {
		if !strings.Contains(out, "\n✓ "+c.Story+": ") && !strings.HasPrefix(out, "✓ "+c.Story+": ") || !strings.Contains(out, "  ✓ "+c.Name+"\n") {
			t.Errorf("story %s, case %q did not pass:\n%s", c.Story, c.Name, out)
		}
	}
	if header := strings.Fields(strings.Split(out, "\n")[1]); !slices.Equal(header[:4], []string{"decision", "by", "shadow", "caller"}) {
		t.Errorf("the columns are %q", header)
	}
}
