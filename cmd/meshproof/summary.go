package main

import (
	"fmt"
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
	// builtIn is true where the cases came with the program, not from a path.
	builtIn bool
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
	words := []string{"meshproof", "run"}
	if file, _, _ := strings.Cut(c.Place, ":"); !s.builtIn {
		words = append(words, quote(file))
	}
	pattern := "^" + regexpQuote(c.Name) + "$"
	return strings.Join(append(words, "--case", quote(pattern), "--envoy", s.version, "--runtime", fmt.Sprint(s.runtime)), " ")
}
