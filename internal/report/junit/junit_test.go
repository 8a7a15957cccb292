package junit

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestJUnit(t *testing.T) {
	t.Parallel()
	runs := reporttest.Matrix()
	runs[1].Shard = "1/2"
	var b bytes.Buffer
	if err := Write(&b, runs); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "junit.xml", b.Bytes())
}

// TestJUnitIsXML holds that every text is read as it was written, except for characters
// that XML cannot hold.
func TestJUnitIsXML(t *testing.T) {
	t.Parallel()
	want := strings.NewReplacer("\x00", "\ufffd", "\x1b", "\ufffd", "\xff", "\ufffd").Replace(reporttest.Hostile)
	c := reporttest.Changed(reporttest.NewCase(reporttest.Hostile, reporttest.Hostile, "1", reporttest.Leaked(reporttest.Hostile)), func(c *report.Case) { c.Error, c.Place = reporttest.Hostile, reporttest.Hostile })
	r := reporttest.NewRun(reporttest.Hostile, c, reporttest.Changed(c, reporttest.Skipped(reporttest.Hostile, true)), reporttest.Changed(c, func(c *report.Case) { c.Fault = true }))
	r.Implementation.Project = reporttest.Hostile
	var b bytes.Buffer
	if err := Write(&b, []report.Run{r}); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(bytes.NewReader(b.Bytes()))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, b.Bytes())
		}
	}
	var got suites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 1 || got.Skipped != 1 || got.Errors != 1 {
		t.Errorf("%+v", got.counts)
	}
	suite := got.Suites[0]
	for name, text := range map[string]string{
		"name": suite.Cases[0].Name, "suite": strings.TrimPrefix(suite.Name, want+" / "), "skipped": suite.Cases[1].Skipped.Message, "version": suite.Properties[0].Value,
		"file": suite.Cases[0].File,
	} {
		if text != want {
			t.Errorf("%s: %q, want %q", name, text, want)
		}
	}
	if first, _, _ := strings.Cut(want, "\n"); suite.Cases[2].Error.Message != first {
		t.Errorf("%q, want %q", suite.Cases[2].Error.Message, first)
	}
	if text := suite.Cases[0].Failure.Text; !strings.Contains(text, want) || !strings.Contains(text, "again: meshproof run") {
		t.Errorf("%q", text)
	}
}

// UnmarshalText reads what MarshalText wrote.
func (s *seconds) UnmarshalText([]byte) error { return nil }

func TestJUnitWithoutRuns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Write(&b, nil); err != nil {
		t.Fatal(err)
	}
	const want = xml.Header + `<testsuites tests="0" failures="0" errors="0" skipped="0" time="0.000"></testsuites>` + "\n"
	if b.String() != want {
		t.Error(b.String())
	}
}

func TestWriteFails(t *testing.T) {
	t.Parallel()
	if err := Write(reporttest.BrokenWriter{}, reporttest.Matrix()); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

// A case of requests through sidecars says which way each took, and in which time.
func TestJUnitOfRoutes(t *testing.T) {
	t.Parallel()
	test, _ := newTestCase(reporttest.NewRoutedCase("a", "s", reporttest.TimedOut(201.4), reporttest.Answered(8)))
	want := "MeshService/backend:80 GET /slow as web with x-version: 2, answered never: requestTimeout 200ms: 504, route kri_mhttpr_default__ns_slow_, backend backend/main, after 201 ms of 190 ms to 280 ms\n" +
		"MeshService/backend:80 as web: answered: 200, route kri_mhttpr_default__ns_slow_, after 8.0 ms"
	if test.Output != want {
		t.Errorf("%s\nwant\n%s", test.Output, want)
	}
}
