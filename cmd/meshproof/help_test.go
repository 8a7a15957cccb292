package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases"
)

func TestDocumentedExitStatus(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := regexp.MustCompile(`(?m)^Exit status: .*[^.\n]`).FindString(string(data))
	if help := strings.Join(strings.Fields(newRoot().Long), " "); said == "" || !strings.Contains(help, said) {
		t.Errorf("the README says %q, the help %q", said, help)
	}
}

func TestDocumentedGo(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	needed := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(module)
	if needed == nil || !strings.Contains(string(readme), "need Go "+string(needed[1])+",") {
		t.Errorf("the README does not say that Go %s is needed", needed)
	}
}

// The examples in the help are valid command lines.
func TestExamples(t *testing.T) {
	t.Parallel()
	examples := 0
	for _, cmd := range newRoot().Commands() {
		for line := range strings.Lines(cmd.Example) {
			words, err := splitShell(strings.TrimSpace(line))
			if err != nil || len(words) < 2 || words[0] != "meshproof" {
				t.Errorf("%q is no command line of meshproof: %v", line, err)
				continue
			}
			whole := newRoot()
			found, rest, err := whole.Find(words[1:])
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil {
				err = found.ValidateArgs(found.Flags().Args())
			}
			if err != nil || found.Name() != cmd.Name() {
				t.Errorf("%s: %v", line, err)
			}
			for _, arg := range found.Flags().Args() {
				if strings.HasPrefix(arg, "cases/") {
					if _, err := cases.Load(filepath.Join(root, arg)); err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
			examples++
		}
	}
	if examples < 8 {
		t.Errorf("%d examples, want those of run, compile and explain", examples)
	}
}

// The help of a flag says what it takes in plain words, and has one default.
func TestHelpOfFlags(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			check(c)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			kind, usage := pflag.UnquoteUsage(f)
			if slices.Contains([]string{"stringToString", "stringArray", "strings", "uint", "uint16"}, kind) {
				t.Errorf("%s --%s takes %s, which is a word of Go", cmd.CommandPath(), f.Name, kind)
			}
			if kind == "key=value" && f.DefValue != "" || strings.Contains(usage, "(default") && !slices.Contains([]string{"", "0", "[]"}, f.DefValue) {
				t.Errorf("%s --%s: %s (default %s)", cmd.CommandPath(), f.Name, usage, f.DefValue)
			}
		})
	}
	check(newRoot())
}

// The help of each command prints each flag once, those of a group under their own title.
func TestHelpGroupsFlags(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			check(c)
		}
		help := cmd.UsageString()
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			lines := regexp.MustCompile(`(?m)^  .{4}--`+f.Name+`[ \n]`).FindAllStringIndex(help, -1)
			if len(lines) != 1 {
				t.Errorf("%s: the help has --%s %d times", cmd.CommandPath(), f.Name, len(lines))
				return
			}
			titles := regexp.MustCompile(`(?m)^Flags.*:$`).FindAllString(help[:lines[0][0]], -1)
			want := "Flags:"
			if group := groupOf(f); group != "" {
				want = "Flags about " + string(group) + ":"
			}
			if got := titles[len(titles)-1]; got != want {
				t.Errorf("%s: --%s stands under %q, want %q", cmd.CommandPath(), f.Name, got, want)
			}
		})
	}
	check(newRoot())
}

// splitShell splits a command line into words as a shell does.
func splitShell(line string) (words []string, err error) {
	out, err := exec.Command("sh", "-c", `eval "set -- $1"; printf '%s\n' "$@"`, "sh", line).Output()
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), err
}
