package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/internal/result"
)

// A failure is a flake, a request that was sent again is none, and what does not run is not counted.
func TestTally(t *testing.T) {
	t.Parallel()
	run := summary.Run{Report: report.Run{Envoy: "1.40.0"}, Results: []result.Case{
		{Case: cases.Case{Name: "good"}, RoutedRequests: []result.RoutedRequest{{Tries: 1}, {Tries: 3}}, Requests: make([]result.Request, 2)},
		{Case: cases.Case{Name: "bad"}, Err: errors.New("it went otherwise"), RoutedRequests: []result.RoutedRequest{{Tries: 1}}},
		{Case: cases.Case{Name: "other"}, Skipped: "not for this version", RoutedRequests: []result.RoutedRequest{{Tries: 2}}},
	}}
	var count tally
	flakes := count.add(run)
	if want := (tally{cases: 2, requests: 5, again: 2, flakes: 1}); count != want {
		t.Errorf("got %+v, want %+v", count, want)
	}
	if len(flakes) != 1 || !strings.Contains(flakes[0], "bad on Envoy 1.40.0: it went otherwise") {
		t.Errorf("got %q", flakes)
	}
	if text := count.minus(tally{cases: 1}).String(); text != "0 whole runs: 1 run of a case, 5 requests, 2 requests sent again, 1 flake" {
		t.Error(text)
	}
}
