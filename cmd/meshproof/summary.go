package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/envoy"
	"github.com/meshproof/meshproof/harness/suite"
)

// summary counts what became of the cases.
type summary struct {
	version        string
	runtime        envoy.Runtime
	passed, failed int
	decisions      int
	retries        int
	fault          bool
}

func summarize(h *harness.Harness, results []suite.Result) summary {
	s := summary{version: h.Version(), runtime: h.Runtime()}
	for _, r := range results {
		if r.Passed() {
			s.passed++
		} else {
			s.failed++
		}
		s.decisions += len(r.Requests)
		s.retries += r.Retries()
		s.fault = s.fault || r.Fault
	}
	return s
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

// again is the command that repeats one case.
func (s summary) again(c cases.Case) string {
	file, _, _ := strings.Cut(c.Place, ":")
	words := []string{"meshproof", "run"}
	if !slices.Contains(cases.BuiltIn(), file) {
		words = append(words, quote(file))
	}
	pattern := "^" + regexpQuote(c.Name) + "$"
	return strings.Join(append(words, "--case", quote(pattern), "--envoy", s.version, "--runtime", fmt.Sprint(s.runtime)), " ")
}
