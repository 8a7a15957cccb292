package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func resultsFile(t testing.TB, r Run) []byte {
	t.Helper()
	data, err := marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// folder writes files below a new folder.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	t.Parallel()
	runs := matrix()
	old, recent := resultsFile(t, runs[0]), resultsFile(t, runs[1])
	for name, tt := range map[string]struct {
		files map[string][]byte
		paths []string
		want  []Run
	}{
		"a file of any name": {map[string][]byte{"x.txt": old}, []string{"x.txt"}, runs[:1]},
		"a folder, by name": {
			map[string][]byte{"results-2.json": recent, "results-1.json": old, "results.json": []byte("no"), "conformance-1.yaml": []byte("no")},
			[]string{""}, runs,
		},
		"folders of artifacts": {map[string][]byte{"b/results-1.json": recent, "a/deep/results-1.json": old}, []string{""}, runs},
		"a report of its own comes before older ones below it": {
			map[string][]byte{"results-1.json": recent, "previous/results-1.json": old}, []string{""}, runs[1:],
		},
		"the order of the paths": {map[string][]byte{"a/results-1.json": recent, "b/results-1.json": old}, []string{"b", "a"}, runs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, tt.files)
			var paths []string
			for _, path := range tt.paths {
				paths = append(paths, filepath.Join(dir, path))
			}
			got, err := Load(paths...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadLinkedFolder(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string][]byte{"results-1.json": resultsFile(t, newRun("1.40.0"))})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if got, err := Load(link); err != nil || len(got) != 1 {
		t.Errorf("%d runs, %v", len(got), err)
	}
}

func TestLoadNothing(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string][]byte{"report/junit.xml": nil, "bad/results-1.json": []byte("{"), "bad/results-2.json": []byte("{}")})
	for want, paths := range map[string][]string{
		"no path was given": nil,
		"neither the folder nor one below it has a file": {filepath.Join(dir, "report")},
		"no such file": {filepath.Join(dir, "nothing")},
		"results-1.json: not a results file of this":       {dir},
		"results-2.json: it names no version of Envoy, or": {dir},
	} {
		if got, err := Load(paths...); err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%v: %v, want %q", paths, err, want)
		}
	}
}

func TestReadBounded(t *testing.T) {
	t.Parallel()
	if data, err := readBounded(strings.NewReader("12345"), 5); string(data) != "12345" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := readBounded(strings.NewReader("123456"), 5); data != nil || err == nil || !strings.Contains(err.Error(), "more than 5 bytes") {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := readBounded(iotest.ErrReader(io.ErrClosedPipe), 5); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	whole := matrix()[0]
	text := func(from, to string) func() []byte {
		return func() []byte {
			data := resultsFile(t, whole)
			if !bytes.Contains(data, []byte(from)) {
				t.Fatalf("the file does not have %q", from)
			}
			return bytes.Replace(data, []byte(from), []byte(to), 1)
		}
	}
	change := func(change func(*Run)) func() []byte {
		return func() []byte {
			r := whole
			r.Cases = append([]Case{}, r.Cases...)
			change(&r)
			return resultsFile(t, r)
		}
	}
	for name, tt := range map[string]struct {
		data func() []byte
		want string
	}{
		"no JSON":                {func() []byte { return []byte("\x00") }, "maybe of a newer one: invalid character"},
		"cut off":                {func() []byte { return resultsFile(t, whole)[:500] }, "unexpected EOF"},
		"null":                   {func() []byte { return []byte("null") }, "not a results file"},
		"a field of later":       {text(`"runtime"`, `"later": 1, "runtime"`), `maybe of a newer one: json: unknown field "later"`},
		"a feature of later":     {text(`"MTPPath"`, `"MTPLater"`), `maybe of a newer one: feature "MTPLater" is unknown`},
		"a profile of later":     {text(`"KUMA-MTP"`, `"LATER"`), `maybe of a newer one: profile "LATER" is unknown`},
		"another run behind":     {func() []byte { return append(resultsFile(t, whole), '{') }, "something follows the run"},
		"a wrong type":           {text(`"passed": 3`, `"passed": "3"`), "cannot unmarshal"},
		"no such shard":          {change(func(r *Run) { r.Shard = "3/2" }), `shard "3/2": the parts are 1 to 2`},
		"an outcome was changed": {text(`"outcome": "deny"`, `"outcome": "allow"`), `case "a prefix ends at a segment": its evidence has the hash`},
		"a case was taken away":  {change(func(r *Run) { r.Cases = r.Cases[1:] }), "it says that 3 cases passed, 0 failed and 2 were skipped, but of its cases 2, 0 and 2 did"},
		"a case twice":           {change(func(r *Run) { r.Add(r.Cases[0]) }), `case "a prefix ends at a segment": its name stands there twice`},
		"a case without a name":  {change(func(r *Run) { r.Add(Case{Passed: true}) }), `case "": its name`},
		"a failure made a pass": {change(func(r *Run) {
			c := r.Cases[1]
			c.Case, c.Passed, c.Skipped, c.NotApplicable = "x", true, "", false
			r.Add(c.with(func(*Case) {}))
		}), `case "x": it passed, it says, but`},
		"a pass made a failure":   {change(func(r *Run) { r.Add(Case{Case: "x"}) }), `case "x": it failed, it says, but`},
		"an error, and passed":    {change(func(r *Run) { r.Add(Case{Case: "x", Passed: true, Error: "e"}.with(func(*Case) {})) }), `case "x": it passed, it says, but`},
		"skipped, and passed":     {change(func(r *Run) { r.Add(Case{Case: "x", Passed: true, Skipped: "s"}) }), `case "x": it passed, it says, but`},
		"not applicable, but run": {change(func(r *Run) { r.Add(Case{Case: "x", Passed: true, NotApplicable: true}) }), `case "x": it is not applicable, but was not skipped`},
		"problems taken away": {
			change(func(r *Run) {
				r.Add(newCase("x", "s", "1", leaked("/")).with(func(c *Case) { c.Requests[0].Problems = nil }))
			}),
			`case "x": requests[0]: passed is false, with 0 problems`,
		},
		"a time that is none":           {change(func(r *Run) { r.Milliseconds = -1 }), "it took -1 ms, it says"},
		"a time of a case that is none": {change(func(r *Run) { r.Add(Case{Case: "x", Passed: true, Milliseconds: 1e300}) }), `case "x": it took 1e+300 ms`},
		"a time of a request that is none": {
			change(func(r *Run) {
				r.Add(newCase("x", "s", "1", allowed("/")).with(func(c *Case) { c.Requests[0].Evidence.Milliseconds = -3 }))
			}),
			`case "x": requests[0]: it took -3 ms`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := decode(tt.data()); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q in one line", err, tt.want)
			}
		})
	}
}

// TestDecodeTakesWhatMarshalWrites covers texts that JSON does not keep as they are.
func TestDecodeTakesWhatMarshalWrites(t *testing.T) {
	t.Parallel()
	odd := newRun("1.40.0", newCase("<&>\u2028", "s", "1", allowed("/\u00e4\ufffd<"), denied("/\x00")))
	got, err := decode(resultsFile(t, odd))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(odd, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzLoad asks that garbage is refused without a panic, and that what is taken can be
// written, read again and drawn.
func FuzzLoad(f *testing.F) {
	for _, r := range matrix() {
		f.Add(resultsFile(f, r))
	}
	f.Add([]byte(`{"meshproof":"a","envoy":"b"}`))
	f.Add([]byte(`{"meshproof":"a","envoy":"b","shard":"1/2","failed":1,"cases":[{"case":"c","error":"e","evidenceSHA256":"00"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(text)
		if err != nil {
			t.Fatalf("what was taken is refused when written again: %v\n%s", err, text)
		}
		if !Compare(r, again).Empty() || len(Differences([]Run{r, again})) > 0 {
			t.Errorf("it differs when read again: %s", Compare(r, again).Text())
		}
		for _, draw := range []func(io.Writer, []Run) error{JUnit, Markdown} {
			if err := draw(io.Discard, []Run{r, again}); err != nil {
				t.Error(err)
			}
		}
	})
}
