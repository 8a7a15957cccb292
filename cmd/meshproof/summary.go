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
	requests       int
	retries        int
	fault          bool
	// builtIn is true where the cases came with the program, not from a path.
	builtIn bool
}

func summarize(h *harness.Harness, results []suite.Result) summary {
	s := summary{version: h.Version(), runtime: h.Runtime()}
	for _, r := range results {
		s.add(r)
	}
	return s
}

func (s *summary) add(r suite.Result) {
	if r.Passed() {
		s.passed++
	} else {
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
func (s summary) line(p paint) string {
	line := fmt.Sprintf("%s %s on Envoy %s (%s)", p.mark(s.failed == 0), tally(s.passed+s.failed, s.failed, s.requests), s.version, s.runtime)
	if s.retries > 0 {
		line += fmt.Sprintf(", %s retried", count(s.retries, "transport fault"))
	}
	return line
}

// tally is "3 cases passed, 45 requests" or "1 of 3 cases failed, 45 requests".
func tally(cases, failed, requests int) string {
	if failed > 0 {
		return fmt.Sprintf("%d of %s failed, %s", failed, count(cases, "case"), count(requests, "request"))
	}
	return fmt.Sprintf("%s passed, %s", count(cases, "case"), count(requests, "request"))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// again is the command that repeats one case.
func (s summary) again(c cases.Case) string {
	words := []string{"meshproof", "run"}
	if !s.builtIn {
		file := c.Place[:strings.LastIndexByte(c.Place, ':')]
		if strings.HasPrefix(file, "-") {
			file = "./" + file
		}
		words = append(words, quote(file))
	}
	words = append(words, "--case", quote("^"+regexpQuote(c.Name)+"$"))
	return strings.Join(append(words, "--envoy", s.version, "--runtime", s.runtime.String()), " ")
}
