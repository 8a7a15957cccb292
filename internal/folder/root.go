package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Root is one folder with all that is below it. No path leads out of it, and no symbolic
// link does.
type Root struct {
	folder string
	root   *os.Root
}

// OpenInside opens a folder. [Inside.Close] has to be called.
func OpenInside(folder string) (*Root, error) {
	root, err := os.OpenRoot(folder)
	return &Root{folder, root}, err
}

// Close releases the folder.
func (i *Root) Close() error { return i.root.Close() }

// Files returns the files that a pattern means, see [path.Match]: each match is a file, or a
// folder with the files that [Files] returns. The paths begin at the folder, in their order.
// No file is an error.
func (i *Root) Files(pattern string) ([]string, error) {
	clean := path.Clean(pattern)
	if !fs.ValidPath(clean) {
		return nil, errors.New("it leads out of the folder: name a file in it or below it")
	}
	matches, err := fs.Glob(i.root.FS(), clean)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, match := range matches {
		info, err := i.root.Stat(match)
		if err != nil {
			return nil, i.ofLink(match, err)
		}
		if !info.IsDir() {
			files = append(files, match)
			continue
		}
		err = fs.WalkDir(i.root.FS(), match, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && isManifest(file) {
				files = append(files, file)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no such file in %s", i.folder)
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Path returns the path of a file of the folder as the user may open it.
func (i *Root) Path(file string) string { return filepath.Join(i.folder, filepath.FromSlash(file)) }

// Read is [Read] for a file of the folder.
func (i *Root) Read(file string) ([]byte, error) {
	f, err := i.root.OpenFile(filepath.FromSlash(file), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, i.ofLink(file, err)
	}
	defer f.Close()
	return readRegular(f, i.Path(file), Limit)
}

// ofLink returns the error of a file that cannot be opened. Where a link stands in its path, the error names the link.
func (i *Root) ofLink(file string, err error) error {
	parts := strings.Split(file, "/")
	for k := range parts {
		part := path.Join(parts[:k+1]...)
		if info, failed := i.root.Lstat(part); failed != nil || info.Mode()&fs.ModeSymlink != 0 {
			if failed == nil {
				err = fmt.Errorf("%s is a link that leads out of the folder or nowhere: put the file itself into the folder", i.Path(part))
			}
			break
		}
	}
	return err
}

// Endings are those of the names of manifests.
var Endings = []string{".yaml", ".yml", ".json"}

// isManifest counts the file of Kustomize that has no ending among the manifests.
func isManifest(file string) bool {
	return slices.ContainsFunc(Endings, func(ending string) bool { return strings.HasSuffix(file, ending) }) || filepath.Base(file) == "Kustomization"
}

func isYAML(file string) bool {
	return strings.HasSuffix(file, ".yaml") || strings.HasSuffix(file, ".yml")
}
