package summary

import (
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/terminal"
)

// Again returns the command that repeats one case of a run, with further flags. A
// built-in case needs no file.
func Again(c cases.Case, run report.Run, builtIn bool, flags ...string) string {
	words := []string{"meshproof", "run"}
	if !builtIn {
		words = append(words, terminal.Quote(File(c)))
	}
	words = append(words, "--case", terminal.Quote("^"+regexp.QuoteMeta(c.Name)+"$"))
	words = append(words, "--envoy", run.Envoy, "--runtime", run.Runtime)
	return strings.Join(append(words, flags...), " ")
}

// File returns the file of a case as an argument of a command.
func File(c cases.Case) string {
	file := c.Place[:strings.LastIndexByte(c.Place, ':')]
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	return file
}
