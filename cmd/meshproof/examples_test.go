package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamplesOfHelp runs the examples in the help of each command that name a file of the checkout.
func TestExamplesOfHelp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"cases", "examples"} {
		checkout, err := filepath.Abs(filepath.Join(root, name))
		if err == nil {
			err = os.Symlink(checkout, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	tried := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(line, " cases/") && !strings.Contains(line, " examples/") {
				continue
			}
			tried++
			words, _ := splitCommand(strings.TrimSpace(line))
			t.Run(strings.Join(words, " "), func(t *testing.T) {
				t.Parallel()
				try(t, dir, command{words: words})
			})
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
	if tried < 10 {
		t.Errorf("%d examples name a file of the checkout: the help has changed its form", tried)
	}
}
