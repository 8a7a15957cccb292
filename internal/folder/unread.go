package folder

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Unread returns the files of a folder that [Files] does not return, by their paths in it, each with a text that
// is another one where the content is. The text is "" for what has no content that could be compared: a
// link that leads out of the folder or nowhere, and what is no regular file. With all, it returns each such
// file but those of Git itself, else those that [PassedOver] returns. A path of one file has none.
func Unread(path string, all bool) (map[string]string, error) {
	out := map[string]string{}
	info, err := os.Stat(path)
	if path == Stdin || err != nil || !info.IsDir() {
		return out, nil
	}
	names, err := PassedOver(path)
	if all {
		names, err = files(path, func(file string) bool { return !isManifest(file) && !isOfGit(path, file) })
	}
	for _, name := range names {
		inside, err := filepath.Rel(path, name)
		if err != nil {
			return nil, err
		}
		if out[inside], err = contentOf(path, name); err != nil {
			return nil, err
		}
	}
	return out, err
}

// WithoutFiles returns the folders below a folder that have nothing in them, as paths in it. Git keeps no such folder, but for a module that
// is not checked out.
func WithoutFiles(path string) (out []string, err error) {
	if info, err := os.Stat(path); path == Stdin || err != nil || !info.IsDir() {
		return nil, nil
	}
	filled := map[string]bool{".": true}
	err = filepath.WalkDir(path+string(filepath.Separator), func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		filled[filepath.Dir(inside)] = true
		switch {
		case !entry.IsDir():
		case isOfGit(path, at):
			return fs.SkipDir
		default:
			out = append(out, inside)
		}
		return nil
	})
	return slices.DeleteFunc(out, func(inside string) bool { return filled[inside] }), err
}

// isOfGit reports whether a file of a folder is one in which Git keeps its own data.
func isOfGit(folder, file string) bool {
	inside, err := filepath.Rel(folder, file)
	if err != nil {
		return false
	}
	return slices.Contains(strings.Split(filepath.ToSlash(inside), "/"), ".git")
}

// contentOf returns a text that stands for the content of a file. A link to a folder stands for its goal, whose
// files are in the folder too.
func contentOf(folder, file string) (string, error) {
	goal, err := filepath.EvalSymlinks(file)
	if err != nil {
		return "", nil
	}
	top, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", err
	}
	inside, err := filepath.Rel(top, goal)
	info, errStat := os.Stat(goal)
	switch {
	case err != nil || errStat != nil:
		return "", nil
	case info.IsDir() && !filepath.IsLocal(inside):
		return "", nil
	case info.IsDir():
		return "link to " + inside, nil
	case !info.Mode().IsRegular():
		return "", nil
	}
	return digest(goal)
}

// digest returns the hash of a regular file, of any size.
func digest(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", &fs.PathError{Op: "read", Path: file, Err: fs.ErrInvalid}
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
