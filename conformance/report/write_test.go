package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	old, recent := newRun("1.38.3", newCase("a", "s", "1", allowed("/"))), newRun("1.40.0", newCase("a", "s", "1", allowed("/")))
	for range 2 { // files of the same names are replaced
		if err := Write(dir, []Run{old, recent}); err != nil {
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
	if diff := cmp.Diff([]Run{old, recent}, runs); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	for _, name := range want {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

// No two runs of one report share a file, whatever they are called.
func TestWriteNamesFilesApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(version string) Run {
		r := newRun("1.40.0", newCase("a", "s", "1", allowed("/")))
		r.Implementation.Version = version
		return r
	}
	if err := Write(dir, []Run{run("../../etc 1"), run("../../etc/1"), run("2")}); err != nil {
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
		r := newRun("1.40.0", newCase("of "+shard, "s", shard[:1], allowed("/")))
		r.Shard = shard
		if err := Write(dir, []Run{r}); err != nil {
			t.Fatal(err)
		}
	}
	parts, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := Merge(parts...)
	if err != nil || len(merged) != 1 || len(merged[0].Cases) != 2 {
		t.Errorf("%d runs, %v", len(merged), err)
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
	if err := Write(file, []Run{newRun("1.40.0")}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v", err)
	}
}
