package main

import (
	"fmt"
	"strings"

	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
)

// tally counts what became of the cases of several runs.
type tally struct {
	// runs counts whole runs on all versions, and cases the runs of a case on a version.
	runs, cases, requests int
	// again counts the requests that were sent again because the machine was late.
	again, flakes int
}

// add counts a run on one version, and says of each flake what happened.
func (t *tally) add(run summary.Run) (flakes []string) {
	for _, r := range run.Results {
		if r.Skipped != "" {
			continue
		}
		t.cases++
		t.requests += len(r.Requests) + len(r.RoutedRequests)
		for _, p := range r.RoutedRequests {
			t.again += max(0, p.Tries-1)
		}
		if r.Failed() {
			t.flakes++
			flakes = append(flakes, flakeText(run.Report.Envoy, r))
		}
	}
	return flakes
}

func flakeText(version string, r result.Case) string {
	return fmt.Sprintf("%s on Envoy %s: %s", r.Case.Name, version, strings.Join(r.Failures(), "; "))
}

// minus is what was counted since an earlier count.
func (t tally) minus(before tally) tally {
	return tally{t.runs - before.runs, t.cases - before.cases, t.requests - before.requests, t.again - before.again, t.flakes - before.flakes}
}

// String is a sentence.
func (t tally) String() string {
	return fmt.Sprintf("%s: %s of a case, %s, %s sent again, %s", terminal.Count(t.runs, "whole run"), terminal.Count(t.cases, "run"), terminal.Count(t.requests, "request"),
		terminal.Count(t.again, "request"), terminal.Count(t.flakes, "flake"))
}
