package cases_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
)

// folder writes files into a new folder and returns its path, free of symbolic
// links.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fileOf returns a file with one case for each name, two lines apart.
func fileOf(names ...string) string {
	var docs []string
	for _, name := range names {
		docs = append(docs, "{case: "+name+", expectWarning: []}\n")
	}
	return strings.Join(docs, "---\n")
}

// mixedFolder returns a folder with case files and other files.
func mixedFolder(t *testing.T) string {
	t.Helper()
	return folder(t, map[string]string{
		"b.yaml": fileOf("b1", "b2"), "a.yml": fileOf("a"), "sub/c.yaml": fileOf("c"),
		"README.md": "# no case", "notes.yaml.txt": "no case", "d.yaml.bak": "no case", "sub/empty/.keep": "",
	})
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ paths, want []string }{
		"a folder, by name, with folders below": {[]string{"."}, []string{"a.yml:1: a", "b.yaml:1: b1", "b.yaml:3: b2", "sub/c.yaml:1: c"}},
		"a file":                                {[]string{"b.yaml"}, []string{"b.yaml:1: b1", "b.yaml:3: b2"}},
		"files in the order given":              {[]string{"sub/c.yaml", "a.yml"}, []string{"sub/c.yaml:1: c", "a.yml:1: a"}},
		"a file once, by several paths":         {[]string{"b.yaml", "sub/../b.yaml", "./b.yaml", "."}, []string{"b.yaml:1: b1", "b.yaml:3: b2", "a.yml:1: a", "sub/c.yaml:1: c"}},
		"a folder below":                        {[]string{"sub"}, []string{"sub/c.yaml:1: c"}},
		"a folder with a slash at its end":      {[]string{"sub/"}, []string{"sub/c.yaml:1: c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := mixedFolder(t)
			var paths, got []string
			for _, path := range tt.paths {
				paths = append(paths, dir+"/"+path)
			}
			all, err := cases.Load(paths...)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range all {
				got = append(got, strings.TrimPrefix(filepath.ToSlash(c.Place), filepath.ToSlash(dir)+"/")+": "+c.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLoadNamedFile loads a file by its name, with any ending.
func TestLoadNamedFile(t *testing.T) {
	t.Parallel()
	path := folder(t, map[string]string{"case.txt": fileOf("x")}) + "/case.txt"
	if all, err := cases.Load(path); err != nil || len(all) != 1 {
		t.Errorf("Load(%s) = %v, %v", path, all, err)
	}
}

func TestLoadThroughSymbolicLink(t *testing.T) {
	t.Parallel()
	dir := mixedFolder(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	all, err := cases.Load(link)
	if err != nil || len(all) != 4 || !strings.HasPrefix(all[0].Place, link) {
		t.Errorf("Load of a linked folder = %v, %v", all, err)
	}
	all, err = cases.Load(dir, link, filepath.Join(link, "b.yaml"))
	if err != nil || len(all) != 4 {
		t.Errorf("Load of a folder and a link to it = %v, %v", all, err)
	}
}

// TestLoadThroughRelativePath counts a file once. The place is the path as the user wrote it.
// The test is not parallel, because the working folder belongs to the process.
func TestLoadThroughRelativePath(t *testing.T) {
	dir := mixedFolder(t)
	t.Chdir(dir)
	all, err := cases.Load("a.yml", filepath.Join(dir, "a.yml"))
	if err != nil || len(all) != 1 || all[0].Place != "a.yml:1" {
		t.Errorf("Load = %v, %v", all, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		paths []string
		// want has one line for each error. DIR is the folder.
		want string
	}{
		"no path":                     {nil, nil, "cases: no path was given"},
		"a path to nothing":           {nil, []string{"a.yaml"}, "cases: stat DIR/a.yaml: no such file or directory"},
		"a folder without case files": {map[string]string{"a.txt": "x"}, []string{"."}, "cases: DIR: there is no case file: name a .yaml file, or a folder with some"},
		"a file without a case":       {map[string]string{"a.yaml": "# soon\n"}, []string{"."}, "cases: DIR/a.yaml: the file has no case"},
		"errors of all files": {map[string]string{"a.yaml": "{story: x}", "b.yaml": fileOf("b"), "c.yaml": "{case: }\n---\n{case: x, worklods: []}"}, []string{"."},
			"cases: DIR/a.yaml:1: case: the case has no name\n" +
				"cases: DIR/c.yaml:1: case: expected text, found nothing\n" +
				"cases: DIR/c.yaml:3: worklods: unknown field: did you mean workloads?"},
		"a name twice in a file": {map[string]string{"a.yaml": fileOf("x", "y", "x")}, []string{"."},
			`cases: DIR/a.yaml:5: case "x" is already defined at DIR/a.yaml:1: give it another name`},
		"a name in three files": {map[string]string{"a.yaml": fileOf("x"), "b.yaml": fileOf("x"), "c.yaml": fileOf("y", "x")}, []string{"."},
			`cases: DIR/b.yaml:1: case "x" is already defined at DIR/a.yaml:1: give it another name` + "\n" +
				`cases: DIR/c.yaml:3: case "x" is already defined at DIR/a.yaml:1: give it another name`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := folder(t, tt.files)
			var paths []string
			for _, path := range tt.paths {
				paths = append(paths, filepath.Join(dir, path))
			}
			all, err := cases.Load(paths...)
			if err == nil || all != nil {
				t.Fatalf("not refused: %v, %v", all, err)
			}
			if diff := cmp.Diff(tt.want, strings.ReplaceAll(err.Error(), dir, "DIR")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A link that leads to itself is an error with its name.
func TestLoadLoop(t *testing.T) {
	t.Parallel()
	loop := filepath.Join(t.TempDir(), "loop.yaml")
	if err := os.Symlink("loop.yaml", loop); err != nil {
		t.Fatal(err)
	}
	if _, err := cases.Load(filepath.Dir(loop)); err == nil || !strings.Contains(err.Error(), loop) {
		t.Errorf("%v, want an error with %s", err, loop)
	}
}

func TestLoadUnreadableFile(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.yaml": fileOf("a")})
	// A link to a folder looks like a file, also for a privileged user.
	if err := os.Symlink(dir, filepath.Join(dir, "b.yaml")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	_, err := cases.Load(dir)
	if err == nil || !strings.HasPrefix(err.Error(), "cases: read ") {
		t.Errorf("Load = %v", err)
	}
}

// TestSource shows that the text of a case is its text in the file, without the text of its
// neighbours.
func TestSource(t *testing.T) {
	t.Parallel()
	const file = `# The file.

case: a
expectWarning: []
--- # about b
# and more about b
case: b
# within b
expectWarning: []
---
# a comment that is no document
---

{case: c, expectWarning: []}
--- {case: d, expectWarning: []}
---
`
	all, err := cases.Parse("f.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range all {
		got = append(got, c.Source)
	}
	want := []string{
		"# The file.\n\ncase: a\nexpectWarning: []\n",
		"# about b\n# and more about b\ncase: b\n# within b\nexpectWarning: []\n",
		"# a comment that is no document\n\n{case: c, expectWarning: []}\n",
		"{case: d, expectWarning: []}\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSourceIsACase parses the text of each case: it is a case file with only that case.
func TestSourceIsACase(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	for _, c := range all {
		again, err := cases.Parse(c.Place, []byte(c.Source))
		if err != nil || len(again) != 1 || again[0].Name != c.Name || again[0].Source != c.Source {
			t.Errorf("%s: %v, %d cases from\n%s", c.Place, err, len(again), c.Source)
		}
	}
}

// A case that a folder has under a name that no one reads must not count as run.
func TestLoadRefusesNamesThatAreNotRead(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.yaml": fileOf("a"), "below/b.YML": fileOf("b")})
	if _, err := cases.Load(dir); err == nil || !strings.Contains(err.Error(), "b.YML") {
		t.Errorf("%v", err)
	}
	dir = folder(t, map[string]string{"a.yaml": fileOf("a"), "report.JSON": "{}", ".hidden/c.yaml": fileOf("c")})
	if all, err := cases.Load(dir); err != nil || len(all) != 2 {
		t.Errorf("%d cases, %v", len(all), err)
	}
}
