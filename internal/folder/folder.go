// Package folder finds the YAML files that a path on the command line means.
//
// It guarantees that the files are in the order of their paths. It follows a symbolic link
// to a folder only where the path itself is the link. It reads no file.
package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Files returns the file that a path names. For a folder it returns the .yaml and .yml
// files in it and below it, in the order of their paths. A folder without such a file is
// no error.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	// Without the separator the walk does not enter a symbolic link to a folder.
	err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml")) {
			files = append(files, filepath.Clean(file))
		}
		return err
	})
	return files, err
}
