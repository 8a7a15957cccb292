package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "anew")
	old, recent := reporttest.NewRun("1.38.3", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/"))), reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/")))
	for range 2 { // files of the same names are replaced
		if err := Write(dir, []report.Run{old, recent}); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"conformance-1.38.3.yaml", "conformance-1.40.0.yaml", "index.html", "junit.xml", "results-1.38.3.json", "results-1.40.0.json", "summary.md"}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	runs, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]report.Run{old, recent}, runs); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	for _, name := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// Each run of a report has a file of its own, for any names of the runs.
func TestWriteGivesEachRunAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(version string) report.Run {
		r := reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/")))
		r.Implementation.Version = version
		return r
	}
	if err := Write(dir, []report.Run{run("../../etc 1"), run("../../etc/1"), run("2")}); err != nil {
		t.Fatal(err)
	}
	results := slices.DeleteFunc(files(t, dir), func(name string) bool { return !strings.HasPrefix(name, "results-") })
	if len(results) != 3 {
		t.Errorf("the files are %q", results)
	}
}

// Shards of one run may share a folder.
func TestWriteShards(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, shard := range []string{"1/2", "2/2"} {
		r := reporttest.NewRun("1.40.0", reporttest.NewCase("of "+shard, "s", shard[:1], reporttest.Allowed("/")))
		r.Shard = shard
		if err := Write(dir, []report.Run{r}); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := report.Merge(parts...)
	if err != nil || len(merged) != 1 || len(merged[0].Cases) != 2 {
		t.Errorf("%d runs, %v", len(merged), err)
	}
}

// A report has no files of an earlier run in the same folder.
func TestWriteRemovesWhatIsStale(t *testing.T) {
	t.Parallel()
	run := func(envoy, shard string) report.Run {
		r := reporttest.NewRun(envoy, reporttest.NewCase("of "+envoy+shard, "s", "1", reporttest.Allowed("/")))
		r.Shard = shard
		return r
	}
	for name, tt := range map[string]struct {
		old, recent []report.Run
		want        []string
	}{
		"another version":             {[]report.Run{run("1.38.3", ""), run("1.39.3", "")}, []report.Run{run("1.40.0", "")}, []string{"1.40.0"}},
		"shards under a whole run":    {[]report.Run{run("1.40.0", "1/2")}, []report.Run{run("1.40.0", "")}, []string{"1.40.0"}},
		"a whole run under a shard":   {[]report.Run{run("1.40.0", "")}, []report.Run{run("1.40.0", "1/2")}, []string{"1.40.0-shard-1-2"}},
		"another shard":               {[]report.Run{run("1.40.0", "2/2")}, []report.Run{run("1.40.0", "1/2")}, []string{"1.40.0-shard-1-2", "1.40.0-shard-2-2"}},
		"another shard of the matrix": {[]report.Run{run("1.39.3", "2/2"), run("1.40.0", "2/2")}, []report.Run{run("1.39.3", "1/2"), run("1.40.0", "1/2")}, []string{"1.39.3-shard-1-2", "1.39.3-shard-2-2", "1.40.0-shard-1-2", "1.40.0-shard-2-2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			own := filepath.Join(dir, "results.json")
			if err := os.WriteFile(own, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, runs := range [][]report.Run{tt.old, tt.recent} {
				if err := Write(dir, runs); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"index.html", "junit.xml", "results.json", "summary.md"}
			for _, label := range tt.want {
				want = append(want, "conformance-"+label+".yaml", "results-"+label+".json")
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Shards can be merged into their own folder, and merged again.
func TestMergeInPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, shard := range reporttest.Split(reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/")), reporttest.NewCase("b", "s", "2", reporttest.Denied("/"))), 2, func(i int) int { return i }) {
		if err := Write(dir, []report.Run{shard}); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		parts, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		merged, err := report.Merge(parts...)
		if err != nil || len(merged) != 1 || merged[0].Passed != 2 {
			t.Fatalf("%+v, %v", merged, err)
		}
		if err := Write(dir, merged); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrepare(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "made", "anew")
	if err := Prepare(dir); err != nil {
		t.Fatal(err)
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("the folder has %q", left)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, filepath.Join(file, "below")} {
		if err := Prepare(bad); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("error %v", err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	if err := Write(t.TempDir(), nil); err == nil {
		t.Error("a report of nothing was written")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(file, []report.Run{reporttest.NewRun("1.40.0")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
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
		"results-1.json: not a results file: no JSON":      {dir},
		"results-2.json: it names no version of Envoy, or": {dir},
	} {
		if got, err := Load(paths...); err == nil || !strings.Contains(err.Error(), want) || got != nil {
			t.Errorf("%v: %v, want %q", paths, err, want)
		}
	}
}
