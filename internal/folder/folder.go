// Package folder finds and reads the files that a path on the command line means.
//
// It guarantees that the files are in the order of their paths, and that a file is read only
// if it is a regular file of a bounded size, or standard input within the same bound. It
// follows a symbolic link to a folder only where the path itself is the link.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Stdin is the path that means standard input.
const Stdin = "-"

// Files returns the file that a path names. For a folder it returns the files in it and below
// it that kubectl applies: .yaml, .yml and .json, in the order of their paths. A folder
// without such a file is no error.
func Files(path string) ([]string, error) { return files(path, isManifest) }

// YAML is [Files] without the .json files of a folder, for files that are no manifests.
func YAML(path string) ([]string, error) { return files(path, isYAML) }

// PassedOver returns what of a folder [Files] does not return, and a user may take for manifests:
// files with an ending in capitals, such as .YAML, which kubectl does not apply either, and symbolic
// links to folders.
func PassedOver(path string) (out []string, err error) {
	info, err := os.Stat(path)
	if path == Stdin || err != nil || !info.IsDir() {
		return nil, nil
	}
	err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		isLink := false
		if entry.Type()&fs.ModeSymlink != 0 {
			leads, err := os.Stat(file)
			isLink = err == nil && leads.IsDir()
		}
		if !isManifest(file) && (isLink || isManifest(strings.ToLower(file))) {
			out = append(out, filepath.Clean(file))
		}
		return nil
	})
	return out, err
}

// toolFiles are the names, without an ending, of files by which tools change manifests or leave some out.
var toolFiles = []string{"Kustomization", "kustomization", "Kptfile", ".sourceignore", ".fleetignore", ".helmignore", ".krmignore", ".gitmodules"}

// isTemplate reports whether a file is of Jsonnet: Argo CD applies what it says beside the manifests of its folder.
func isTemplate(file string) bool {
	return slices.Contains([]string{".jsonnet", ".libsonnet"}, filepath.Ext(file))
}

// ToolFiles returns the files of a folder, as paths in it, by which tools such as Kustomize, kpt, Flux, Fleet and Argo CD change
// manifests, make some or leave some out, and which [Files] does not return.
func ToolFiles(path string) (out []string, err error) {
	found, err := files(path, func(file string) bool {
		return !isManifest(file) && (slices.Contains(toolFiles, filepath.Base(file)) || isTemplate(file))
	})
	for _, file := range found {
		if inside, err := filepath.Rel(path, file); err == nil && inside != "." {
			out = append(out, inside)
		}
	}
	return out, err
}

func files(path string, wanted func(file string) bool) ([]string, error) {
	if path == Stdin {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var found []string
	// Without the separator the walk does not enter a symbolic link to a folder.
	err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && wanted(file) {
			found = append(found, filepath.Clean(file))
		}
		return err
	})
	return found, err
}

// Limit is the largest size of a file that [Read] reads, in bytes, unless [LimitVariable] says
// another. A thousand policies have half a megabyte.
const Limit = 16 << 20

// LimitVariable is the variable of the environment with the limit of [Read], in megabytes.
const LimitVariable = "MESHPROOF_FILE_LIMIT"

// mostMegabytes bounds what a user may set: a file takes some thirty times its size in memory.
const mostMegabytes = 1024

// Read returns the content of a regular file, or of [Stdin], of at most [Limit] bytes, or as
// many as [LimitVariable] says. It leaves out the mark that editors write before UTF-8, and
// refuses UTF-16. Standard input is read once; to read it again is an error. Its error is of
// type *[fs.PathError].
func Read(path string) ([]byte, error) {
	limit, err := parseLimit(os.Getenv(LimitVariable))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	data, err := ReadUpTo(path, limit)
	if large := (*tooLargeError)(nil); errors.As(err, &large) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: %s sets another limit, in megabytes", large, LimitVariable)}
	}
	return data, err
}

func parseLimit(text string) (int64, error) {
	if text == "" {
		return Limit, nil
	}
	megabytes, err := strconv.Atoi(text)
	if err != nil || megabytes < 1 || megabytes > mostMegabytes {
		return 0, fmt.Errorf("%s is %q: write a number of megabytes from 1 to %d", LimitVariable, text, mostMegabytes)
	}
	return int64(megabytes) << 20, nil
}

// ReadUpTo is [Read] with another limit, in bytes.
func ReadUpTo(path string, limit int64) ([]byte, error) {
	if path == Stdin {
		if !stdinIsRead.CompareAndSwap(false, true) {
			return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("standard input was read already: name it once")}
		}
		return readAll(os.Stdin, path, limit)
	}
	// Without O_NONBLOCK this call waits until a writer opens a named pipe.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readRegular(f, path, limit)
}

// stdinIsRead is true once standard input was read, for then it is empty.
var stdinIsRead atomic.Bool

func readRegular(f *os.File, path string, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := CheckRegular(info, limit); err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return readAll(f, path, limit)
}

// readAll reads up to the limit. The size of a file may be stale or missing, as in /proc.
func readAll(f *os.File, path string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return data, err
	case int64(len(data)) > limit:
		return nil, &fs.PathError{Op: "read", Path: path, Err: &tooLargeError{int64(len(data)), limit}}
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is UTF-16: save it as UTF-8")}
	}
	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}

// CheckRegular refuses what is no regular file, and a file of more than a number of bytes.
func CheckRegular(info fs.FileInfo, limit int64) error {
	switch {
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		return fmt.Errorf("it is %s, and only regular files are read: save its content as a file, or pipe it in and name -", kind(info.Mode()))
	case info.Size() > limit:
		return &tooLargeError{info.Size(), limit}
	}
	return nil
}

// tooLargeError says that a file is larger than its limit.
type tooLargeError struct{ size, limit int64 }

func (e *tooLargeError) Error() string {
	return fmt.Sprintf("it has %d bytes or more, and the limit is %d", e.size, e.limit)
}

// kind names a file that is not regular.
func kind(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	default:
		return "a special file"
	}
}
