package sidecar

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/meshproof/meshproof/internal/messages"
)

// Folder reads all files *.json below a folder, in the order of their names. Each
// holds a configuration dump, a listener, a route configuration or an extension
// configuration with its @type, an RBAC filter with its @type, an array of such
// filters (the filters of one inbound, in order), or what `meshproof compile
// --output json` prints. Listeners find what they refer to in any of the files.
//
// Filters without a listener become an inbound whose listener is the file's name
// and whose transport is not known.
//
// It returns an error with the name of a file that cannot be read or holds nothing of
// these, and an error for a folder without such files.
func Folder(dir fs.FS) (Sidecar, error) {
	var r resources
	files := 0
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".json") {
			return err
		}
		files++
		if err := r.addFile(dir, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("it has no file *.json: %w", fs.ErrNotExist)
	}
	if err != nil {
		return Sidecar{}, fmt.Errorf("sidecar: read folder: %w", err)
	}
	s, _ := r.read()
	return s, nil
}

func (r *resources) addFile(dir fs.FS, name string) error {
	info, err := fs.Stat(dir, name)
	if err != nil {
		return err
	}
	if info.Size() > messages.MaxSize {
		return fmt.Errorf("it has %d bytes, the limit is %d", info.Size(), messages.MaxSize)
	}
	data, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	tree, err := messages.Parse(data)
	if err != nil {
		return err
	}
	return r.add(tree, name)
}
