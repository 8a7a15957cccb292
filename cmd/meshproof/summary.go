package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// summary counts what became of the cases.
type summary struct {
	version, runtime string
	passed, failed   int
	// skipped leaves out what is not applicable, so that it counts gaps only.
	skipped, notApplicable int
	requests               int
	retries                int
	fault                  bool
}

func summarize(run report.Run, results []result.Case) summary {
	s := summary{version: run.Envoy, runtime: run.Runtime}
	for _, r := range results {
		s.add(r)
	}
	return s
}

func (s *summary) add(r result.Case) {
	switch {
	// The requests of a skipped case show what holds elsewhere.
	case r.NotApplicable:
		s.notApplicable++
		return
	case r.Skipped != "":
		s.skipped++
		return
	case r.Passed():
		s.passed++
	default:
		s.failed++
	}
	s.requests += len(r.Requests)
	s.retries += r.Retries()
	s.fault = s.fault || r.Fault
}

// exit returns the error that stands for the exit status; what went wrong has
// been printed by then.
func (s summary) exit() error {
	switch {
	case s.fault:
		return &exitError{code: exitMachine}
	case s.failed > 0:
		return &exitError{code: exitDiffers}
	default:
		return nil
	}
}

// line is the last one of a run.
func (s summary) line(p terminal.Paint) string {
	line := fmt.Sprintf("%s %s on Envoy %s (%s)", p.Mark(s.failed == 0), s.tally(), s.version, s.runtime)
	if s.retries > 0 {
		line += fmt.Sprintf(", %s retried", terminal.Count(s.retries, "transport fault"))
	}
	return line
}

// tally is "3 cases passed, 45 requests" or "1 of 3 cases failed, 2 skipped, 1 not
// applicable, 45 requests".
func (s summary) tally() string {
	text := terminal.Count(s.passed, "case") + " passed"
	if s.failed > 0 {
		text = fmt.Sprintf("%d of %s failed", s.failed, terminal.Count(s.passed+s.failed, "case"))
	}
	if s.skipped > 0 {
		text += fmt.Sprintf(", %d skipped", s.skipped)
	}
	if s.notApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", s.notApplicable)
	}
	return text + ", " + terminal.Count(s.requests, "request")
}

// againCommand is the command that repeats one case, with further flags.
func againCommand(c cases.Case, version, runtime string, builtIn bool, more ...string) string {
	words := []string{"meshproof", "run"}
	if !builtIn {
		words = append(words, terminal.Quote(fileOf(c)))
	}
	words = append(words, "--case", terminal.Quote("^"+regexp.QuoteMeta(c.Name)+"$"))
	words = append(words, "--envoy", version, "--runtime", runtime)
	return strings.Join(append(words, more...), " ")
}

// fileOf is the file that a case is from, as an argument.
func fileOf(c cases.Case) string {
	file := c.Place[:strings.LastIndexByte(c.Place, ':')]
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	return file
}
