package folder

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

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
	runs := reporttest.Matrix()
	old, recent := reporttest.ResultsFile(t, runs[0]), reporttest.ResultsFile(t, runs[1])
	for name, tt := range map[string]struct {
		files map[string][]byte
		paths []string
		want  []report.Run
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
	dir := folder(t, map[string][]byte{"results-1.json": reporttest.ResultsFile(t, reporttest.NewRun("1.40.0"))})
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
