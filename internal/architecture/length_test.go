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
		if lines := bytes.Count(data, []byte("\n")); lines > mostLines {
			t.Errorf("%s has %d lines, and a file may have %d: split it", path, lines, mostLines)
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
