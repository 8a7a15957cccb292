package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestJUnit(t *testing.T) {
	t.Parallel()
	runs := matrix()
	runs[1].Shard = "1/2"
	var b bytes.Buffer
	if err := JUnit(&b, runs); err != nil {
		t.Fatal(err)
	}
	golden(t, "junit.xml", b.Bytes())
}

// TestJUnitIsXML asks that every text comes out as it went in, as far as XML has its
// characters.
func TestJUnitIsXML(t *testing.T) {
	t.Parallel()
	want := strings.NewReplacer("\x00", "\ufffd", "\x1b", "\ufffd", "\xff", "\ufffd").Replace(hostile)
	c := newCase(hostile, hostile, "1", leaked(hostile)).with(func(c *Case) { c.Error, c.Place = hostile, hostile })
	r := newRun(hostile, c, c.with(skipped(hostile, true)), c.with(func(c *Case) { c.Fault = true }))
	r.Implementation.Project = hostile
	var b bytes.Buffer
	if err := JUnit(&b, []Run{r}); err != nil {
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
	var got junitSuites
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 3 || got.Failures != 1 || got.Skipped != 1 || got.Errors != 1 {
		t.Errorf("%+v", got.junitCounts)
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
func (s *junitSeconds) UnmarshalText([]byte) error { return nil }

func TestJUnitWithoutRuns(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := JUnit(&b, nil); err != nil {
		t.Fatal(err)
	}
	const want = xml.Header + `<testsuites tests="0" failures="0" errors="0" skipped="0" time="0.000"></testsuites>` + "\n"
	if b.String() != want {
		t.Error(b.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWritersFail(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]func(io.Writer, []Run) error{"JUnit": JUnit, "Markdown": Markdown} {
		if err := draw(brokenWriter{}, matrix()); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
