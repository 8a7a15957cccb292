// Package junit writes runs as JUnit's XML, the form of test results that CI systems read.
package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/report"
)

// The elements of JUnit's XML that all CI systems read. Ginkgo has types for them too, but
// its package adds 35 packages and 2 MB to the binary.
type (
	suites struct {
		XMLName xml.Name `xml:"testsuites"`
		counts
		Suites []suite `xml:"testsuite"`
	}
	suite struct {
		Name string `xml:"name,attr"`
		counts
		Timestamp  string     `xml:"timestamp,attr"`
		Properties []property `xml:"properties>property"`
		Cases      []testCase `xml:"testcase"`
	}
	counts struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     seconds `xml:"time,attr"`
	}
	property struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	testCase struct {
		Name      string   `xml:"name,attr"`
		Classname string   `xml:"classname,attr"`
		File      string   `xml:"file,attr,omitempty"`
		Line      int      `xml:"line,attr,omitempty"`
		Time      seconds  `xml:"time,attr"`
		Failure   *problem `xml:"failure,omitempty"`
		Error     *problem `xml:"error,omitempty"`
		Skipped   *skip    `xml:"skipped,omitempty"`
		// Output says which way requests through sidecars took, a line for each.
		Output string `xml:"system-out,omitempty"`
	}
	problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	skip struct {
		Message string `xml:"message,attr"`
	}
)

// seconds is milliseconds, written as seconds without an exponent.
type seconds float64

// MarshalText implements [encoding.TextMarshaler].
func (s seconds) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", float64(s)/1000), nil
}

// Write writes the runs as JUnit's XML: a test suite for each story of each run, and in
// it a test for each case. A failed case has its problems and the command that repeats
// it. A fault of Envoy or the machine is an error, not a failure. The time of a suite is the
// sum of its cases, which may have run at the same time. A character that XML 1.0 does not
// have becomes U+FFFD.
func Write(w io.Writer, runs []report.Run) error {
	out := suites{Suites: []suite{}}
	labels := report.Labels(runs)
	for i, r := range runs {
		for _, s := range r.Stories() {
			of := newSuite(r, labels[i], s)
			out.add(of.counts)
			out.Suites = append(out.Suites, of)
		}
	}
	text, err := xml.MarshalIndent(out, "", " ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	}
	if err != nil {
		return fmt.Errorf("report: write JUnit: %w", err)
	}
	return nil
}

func (c *counts) add(other counts) {
	c.Tests += other.Tests
	c.Failures += other.Failures
	c.Errors += other.Errors
	c.Skipped += other.Skipped
	c.Time += other.Time
}

func newSuite(r report.Run, label string, s report.Story) suite {
	out := suite{
		Name: label + " / " + s.Name, Timestamp: r.Date.UTC().Format(time.RFC3339),
		Properties: []property{
			{"envoy.version", r.Envoy}, {"envoy.sha256", r.EnvoySHA256}, {"runtime", r.Runtime}, {"meshproof.version", r.Meshproof},
			{"implementation", r.Project()},
		},
	}
	if r.Shard != "" {
		out.Properties = append(out.Properties, property{"shard", r.Shard})
	}
	for _, c := range s.Cases {
		test, counts := newTestCase(c)
		test.Classname = out.Name
		out.add(counts)
		out.Cases = append(out.Cases, test)
	}
	return out
}

func newTestCase(c report.Case) (testCase, counts) {
	test := testCase{Name: c.Case, Time: seconds(c.Milliseconds), Output: ways(c)}
	test.File, test.Line = report.SplitPlace(c.Place)
	one := counts{Tests: 1, Time: test.Time}
	switch {
	case c.Skipped != "" && !c.Fault:
		test.Skipped = &skip{c.Skipped}
		one.Skipped = 1
	case c.Passed:
	case c.Fault:
		test.Error = newProblem(c)
		one.Errors = 1
	default:
		test.Failure = newProblem(c)
		one.Failures = 1
	}
	return test, one
}

// ways has a line for each request through a sidecar: what it asked for, what became of it, and the
// time that this took.
func ways(c report.Case) string {
	asked := report.Askings(c)[len(c.Requests):]
	lines := make([]string, len(asked))
	for i, p := range c.RoutedRequests {
		lines[i] = asked[i].String() + ": " + p.Decision() + ", after " + p.Timing()
	}
	return strings.Join(lines, "\n")
}

func newProblem(c report.Case) *problem {
	lines := c.Problems()
	if c.Again != "" {
		lines = append(lines, "again: "+c.Again)
	}
	return &problem{Message: c.Reason(), Text: strings.Join(lines, "\n")}
}
