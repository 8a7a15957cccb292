// Package reporttest makes runs for the tests of the packages that read and draw runs. Only tests use it.
package reporttest

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
)

// NewRun is a run of cases by a compiler of Kuma's, without a fault of its own.
func NewRun(envoy string, cases ...report.Case) report.Run {
	r := report.Run{
		Meshproof:      "v1.0.0",
		Implementation: report.Implementation{Organization: "kumahq", Project: "kuma", URL: "https://kuma.io", Version: "2.13.0", Contact: []string{"@kumahq"}},
		Date:           time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC),
		Envoy:          envoy, EnvoySHA256: "8aa1", Runtime: "process",
		Profiles: []feature.Profile{feature.KumaMTP, feature.GEP3779}, Cases: []report.Case{}, Milliseconds: 1500,
	}
	for _, c := range cases {
		r.Add(c)
	}
	return r
}

// NewCase is a case with what its requests make of it, at a line of the file of its
// story.
func NewCase(name, story string, line string, requests ...report.Request) report.Case {
	c := report.Case{
		Case: name, Story: story, Place: "cases/" + story + ".yaml:" + line, Features: []feature.Name{"MTPPath"},
		Passed: true, Milliseconds: 12.5, Requests: []report.Request{}, Again: "meshproof run --case '^" + name + "$'",
	}
	for _, q := range requests {
		c.Passed = c.Passed && q.Passed
		c.Requests = append(c.Requests, q)
	}
	if len(requests) > 0 {
		c.Counters = map[string]report.Counters{"backend/http-port": {Allowed: uint64(len(requests))}}
	}
	return hashed(c)
}

// Changed returns a case that was changed, with the hash of what it is now.
func Changed(c report.Case, change func(*report.Case)) report.Case {
	c.Requests = append([]report.Request{}, c.Requests...)
	change(&c)
	return hashed(c)
}

// Skipped makes a case a skipped one.
func Skipped(reason string, applicable bool) func(*report.Case) {
	return func(c *report.Case) { c.Passed, c.Skipped, c.NotApplicable = false, reason, !applicable }
}

// Allowed is a request that was allowed, as wanted.
func Allowed(path string) report.Request {
	return report.Request{
		From: "spiffe://trust-domain.mesh/ns/web/sa/web", To: "backend/http-port", Protocol: "http", Path: path, Want: "allow", Passed: true,
		Outcome: "allow", By: "owner", Shadow: "none",
		Evidence: report.Evidence{
			Caller: "HTTP 200", Log: "via_upstream", Milliseconds: 3,
			Upstream: &report.Arrived{Method: "GET", Path: path, XFCC: "By=spiffe://trust-domain.mesh/backend;Hash=ab12;URI=spiffe://trust-domain.mesh/ns/web/sa/web"},
		},
	}
}

// Denied is a request that was denied, as wanted.
func Denied(path string) report.Request {
	return report.Request{
		From: "spiffe://trust-domain.mesh/ns/web/sa/web", To: "backend/http-port", Protocol: "http", Path: path, Want: "deny", Passed: true,
		Outcome: "deny", By: "operator", Shadow: "none",
		Evidence: report.Evidence{Caller: "HTTP 403", Log: "rbac_access_denied_matched_policy[operator]", Milliseconds: 4},
	}
}

// Leaked is a request that was to be denied.
func Leaked(path string) report.Request {
	q := Allowed(path)
	q.Want, q.Passed = "deny", false
	q.Problems = []string{"the case wants deny, Envoy says served (allow by owner)"}
	return q
}

// Hostile is a name that is markup in all that a report is written in.
const Hostile = "a|b `c` </td><script>alert(1)</script> *d* [e](http://f) &amp; \x00\x1b[31m\u202e\nnext ]]> \\| _g_ \xff"

// Matrix is two runs that differ in all ways: a case is gated, one leaks, one fails
// as a whole, one stands in one run only, one is slow.
func Matrix() []report.Run {
	gated := NewCase("a dot segment is resolved", "path", "9", Denied("/admin"), Denied("/a/../admin"))
	slow := Changed(NewCase("twelve tags", "size", "2"), func(c *report.Case) { c.Milliseconds = 2400; c.Features = nil })
	extended := Changed(NewCase("conditions are a tree", "option-3", "1", Allowed("/")), func(c *report.Case) { c.Features = []feature.Name{"MTPOption3", "MTPPath"} })
	return []report.Run{
		NewRun("1.38.3",
			NewCase("a prefix ends at a segment", "path", "2", Allowed("/metrics"), Denied("/metrics-evil")),
			Changed(NewCase("a dot segment is resolved", "path", "9", Denied("/admin"), Leaked("/a/../admin")), Skipped("it holds from 1.39.3 only", false)),
			slow,
			Changed(Changed(extended, Skipped("the compiler does not claim MTPOption3", true)), func(c *report.Case) { c.Requests = []report.Request{} }),
			NewCase("only here", "old", "1", Allowed("/")),
		),
		NewRun("1.40.0",
			NewCase("a prefix ends at a segment", "path", "2", Allowed("/metrics"), Leaked("/metrics-evil")),
			gated,
			Changed(slow, func(c *report.Case) { c.Passed, c.Error, c.Fault = false, "harness: Envoy ended: signal: killed", true }),
			extended,
		),
	}
}

// Split deals the cases of a run out to shards.
func Split(r report.Run, n int, to func(i int) int) []report.Run {
	shards := make([]report.Run, n)
	for i := range shards {
		shards[i] = r
		shards[i].Shard = fmt.Sprintf("%d/%d", i+1, n)
		shards[i].Cases, shards[i].Passed, shards[i].Failed, shards[i].Skipped = []report.Case{}, 0, 0, 0
		shards[i].Date = r.Date.Add(time.Duration(n-1-i) * time.Second)
		shards[i].Milliseconds = r.Milliseconds - float64(i)
	}
	for i, c := range r.Cases {
		shards[to(i)].Add(c)
	}
	return shards
}

// ResultsFile returns the results file of a run.
func ResultsFile(t testing.TB, r report.Run) []byte {
	t.Helper()
	data, err := report.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// BrokenWriter is a writer that always fails.
type BrokenWriter struct{}

func (BrokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// hashed returns a case with the hash of its evidence.
func hashed(c report.Case) report.Case {
	var r report.Run
	r.Add(c)
	return r.Cases[0]
}
