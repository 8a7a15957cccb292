package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases/feature"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden holds a text against a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

// newRun is a run of cases by a compiler of Kuma's, without a fault of its own.
func newRun(envoy string, cases ...Case) Run {
	r := Run{
		Meshproof:      "v1.0.0",
		Implementation: Implementation{Organization: "kumahq", Project: "kuma", URL: "https://kuma.io", Version: "2.13.0", Contact: []string{"@kumahq"}},
		Date:           time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC),
		Envoy:          envoy, EnvoySHA256: "8aa1", Runtime: "process",
		Profiles: []feature.Profile{feature.KumaMTP, feature.GEP3779}, Cases: []Case{}, Milliseconds: 1500,
	}
	for _, c := range cases {
		r.Add(c)
	}
	return r
}

// newCase is a case with what its requests make of it, at a line of the file of its
// story.
func newCase(name, story string, line string, requests ...Request) Case {
	c := Case{
		Case: name, Story: story, Place: "cases/" + story + ".yaml:" + line, Features: []feature.Name{"MTPPath"},
		Passed: true, Milliseconds: 12.5, Requests: []Request{}, Again: "meshproof run --case '^" + name + "$'",
	}
	for _, q := range requests {
		c.Passed = c.Passed && q.Passed
		c.Requests = append(c.Requests, q)
	}
	if len(requests) > 0 {
		c.Counters = map[string]Counters{"backend/http-port": {Allowed: uint64(len(requests))}}
	}
	c.EvidenceSHA256 = c.hash()
	return c
}

// with returns a case that was changed, with the hash of what it is now.
func (c Case) with(change func(*Case)) Case {
	c.Requests = append([]Request{}, c.Requests...)
	change(&c)
	c.EvidenceSHA256 = c.hash()
	return c
}

func skipped(reason string, applicable bool) func(*Case) {
	return func(c *Case) { c.Passed, c.Skipped, c.NotApplicable = false, reason, !applicable }
}

// allowed and denied are requests that went as wanted.
func allowed(path string) Request {
	return Request{
		From: "spiffe://trust-domain.mesh/ns/web/sa/web", To: "backend/http-port", Path: path, Want: "allow", Passed: true,
		Outcome: "allow", By: "owner", Shadow: "none",
		Evidence: Evidence{
			Caller: "HTTP 200", Log: "via_upstream", Milliseconds: 3,
			Upstream: &Arrived{Method: "GET", Path: path, XFCC: "By=spiffe://trust-domain.mesh/backend;Hash=ab12;URI=spiffe://trust-domain.mesh/ns/web/sa/web"},
		},
	}
}

func denied(path string) Request {
	return Request{
		From: "spiffe://trust-domain.mesh/ns/web/sa/web", To: "backend/http-port", Path: path, Want: "deny", Passed: true,
		Outcome: "deny", By: "operator", Shadow: "none",
		Evidence: Evidence{Caller: "HTTP 403", Log: "rbac_access_denied_matched_policy[operator]", Milliseconds: 4},
	}
}

// leaked is a request that was to be denied.
func leaked(path string) Request {
	q := allowed(path)
	q.Want, q.Passed = "deny", false
	q.Problems = []string{"the case wants deny, Envoy says served (allow by owner)"}
	return q
}

// hostile is a name that is markup in all that a report is written in.
const hostile = "a|b `c` </td><script>alert(1)</script> *d* [e](http://f) &amp; \x00\x1b[31m\u202e\nnext ]]> \\| _g_ \xff"

// matrix is two runs that differ in all ways: a case is gated, one leaks, one fails
// as a whole, one stands in one run only, one is slow.
func matrix() []Run {
	gated := newCase("a dot segment is resolved", "path", "9", denied("/admin"), denied("/a/../admin"))
	slow := newCase("twelve tags", "size", "2").with(func(c *Case) { c.Milliseconds = 2400; c.Features = nil })
	extended := newCase("conditions are a tree", "option-3", "1", allowed("/")).with(func(c *Case) { c.Features = []feature.Name{"MTPOption3", "MTPPath"} })
	return []Run{
		newRun("1.38.3",
			newCase("a prefix ends at a segment", "path", "2", allowed("/metrics"), denied("/metrics-evil")),
			newCase("a dot segment is resolved", "path", "9", denied("/admin"), leaked("/a/../admin")).with(skipped("it holds from 1.39.3 only", false)),
			slow,
			extended.with(skipped("the compiler does not claim MTPOption3", true)).with(func(c *Case) { c.Requests = []Request{} }),
			newCase("only here", "old", "1", allowed("/")),
		),
		newRun("1.40.0",
			newCase("a prefix ends at a segment", "path", "2", allowed("/metrics"), leaked("/metrics-evil")),
			gated,
			slow.with(func(c *Case) { c.Passed, c.Error, c.Fault = false, "harness: Envoy ended: signal: killed", true }),
			extended,
		),
	}
}
