package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
)

// The elements of JUnit's XML that CI systems agree on. Ginkgo has types for them as
// well, but its package brings 35 more and 2 MB into the binary.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitCounts struct {
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     junitSeconds `xml:"time,attr"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		Classname string        `xml:"classname,attr"`
		File      string        `xml:"file,attr,omitempty"`
		Line      int           `xml:"line,attr,omitempty"`
		Time      junitSeconds  `xml:"time,attr"`
		Failure   *junitProblem `xml:"failure,omitempty"`
		Error     *junitProblem `xml:"error,omitempty"`
		Skipped   *junitSkipped `xml:"skipped,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkipped struct {
		Message string `xml:"message,attr"`
	}
)

// junitSeconds is milliseconds, written as seconds without an exponent.
type junitSeconds float64

// MarshalText implements [encoding.TextMarshaler].
func (s junitSeconds) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%.3f", float64(s)/1000), nil
}

// JUnit writes the runs as JUnit's XML: a test suite for each story of each run, and in
// it a test for each case. A case that failed has its problems and the command that
// repeats it; one where Envoy or the machine failed is an error, not a failure. The
// time of a suite is the sum of its cases', which may have run side by side. A
// character that XML 1.0 does not have becomes U+FFFD.
func JUnit(w io.Writer, runs []Run) error {
	out := junitSuites{Suites: []junitSuite{}}
	labels := Labels(runs)
	for i, r := range runs {
		for _, s := range r.stories() {
			suite := junitStory(r, labels[i], s)
			out.add(suite.junitCounts)
			out.Suites = append(out.Suites, suite)
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

func (c *junitCounts) add(other junitCounts) {
	c.Tests += other.Tests
	c.Failures += other.Failures
	c.Errors += other.Errors
	c.Skipped += other.Skipped
	c.Time += other.Time
}

func junitStory(r Run, label string, s story) junitSuite {
	suite := junitSuite{
		Name: label + " / " + s.Name, Timestamp: r.Date.UTC().Format(time.RFC3339),
		Properties: []junitProperty{
			{"envoy.version", r.Envoy}, {"envoy.sha256", r.EnvoySHA256}, {"runtime", r.Runtime}, {"meshproof.version", r.Meshproof},
			{"implementation", r.project()},
		},
	}
	if r.Shard != "" {
		suite.Properties = append(suite.Properties, junitProperty{"shard", r.Shard})
	}
	for _, c := range s.Cases {
		test, counts := junitTest(c)
		test.Classname = suite.Name
		suite.add(counts)
		suite.Cases = append(suite.Cases, test)
	}
	return suite
}

func junitTest(c Case) (junitCase, junitCounts) {
	test := junitCase{Name: c.Case, Time: junitSeconds(c.Milliseconds)}
	test.File, test.Line = splitPlace(c.Place)
	counts := junitCounts{Tests: 1, Time: test.Time}
	switch {
	case c.Skipped != "":
		test.Skipped = &junitSkipped{c.Skipped}
		counts.Skipped = 1
	case c.Passed:
	case c.Fault:
		test.Error = c.junitProblem()
		counts.Errors = 1
	default:
		test.Failure = c.junitProblem()
		counts.Failures = 1
	}
	return test, counts
}

func (c Case) junitProblem() *junitProblem {
	lines := c.problems()
	if c.Again != "" {
		lines = append(lines, "again: "+c.Again)
	}
	return &junitProblem{Message: c.reason(), Text: strings.Join(lines, "\n")}
}
