package folder_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/meshproof/meshproof/internal/folder"
)

// A folder may have files that no command reads. Each has a text that stands for its content, but for what
// cannot be compared.
func TestUnread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"d/e", ".git"} {
		if err := os.MkdirAll(in(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.yaml", "b.json", "c.txt", "C.YAML", "d/e/f", ".git/HEAD", "d/.git"} {
		write(t, in(name), name)
	}
	for name, goal := range map[string]string{"inside": "d", "outside": "..", "nowhere": "x", "d/text": "../c.txt"} {
		if err := os.Symlink(goal, in(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	some, err := folder.Unread(dir, false)
	if err != nil || !slices.Equal(slices.Sorted(maps.Keys(some)), []string{"C.YAML", "inside", "outside"}) {
		t.Errorf("%v, %v", some, err)
	}
	all, err := folder.Unread(dir, true)
	if err != nil || !slices.Equal(slices.Sorted(maps.Keys(all)), []string{"C.YAML", "c.txt", "d/e/f", "d/text", "inside", "nowhere", "outside", "pipe"}) {
		t.Errorf("%v, %v", all, err)
	}
	if all["c.txt"] == "" || all["c.txt"] != all["d/text"] || all["c.txt"] == all["C.YAML"] || all["inside"] == "" {
		t.Errorf("%v", all)
	}
	for _, name := range []string{"nowhere", "outside", "pipe"} {
		if all[name] != "" {
			t.Errorf("%s: %q", name, all[name])
		}
	}
	if alone, err := folder.Unread(in("c.txt"), true); err != nil || len(alone) > 0 {
		t.Errorf("%v, %v", alone, err)
	}
}
