package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// mostLines is how many lines a Go file has at most: a longer one has more than one thought.
const mostLines = 400

// A file that moved to another package must not leave its clause behind.
func TestFilesAreShort(t *testing.T) {
	t.Parallel()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found++
		switch lines := bytes.Count(data, []byte("\n")); {
		case lines > mostLines:
			t.Errorf("%s has %d lines, and a file may have %d: split it", path, lines, mostLines)
		case lines < 2:
			t.Errorf("%s has no more than its package: delete it", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 1000 {
		t.Errorf("only %d files were found", found)
	}
}
