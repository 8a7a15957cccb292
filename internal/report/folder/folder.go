// Package folder writes the folder of a report, and reads runs from such folders.
//
// [Write] guarantees that a reader sees the old file or the new one, never a half, and that no results of an earlier run
// stay beside the new ones. [Load] refuses a file that was changed after it was written.
package folder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	input "github.com/meshproof/meshproof/internal/folder"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/junit"
	"github.com/meshproof/meshproof/internal/report/markdown"
	"github.com/meshproof/meshproof/internal/report/page"
)

// The files of a report.
const (
	resultsPrefix     = "results-"
	resultsSuffix     = ".json"
	conformancePrefix = "conformance-"
	pageFile          = "index.html"
	junitFile         = "junit.xml"
	summaryFile       = "summary.md"
)

// Write writes the report of the runs into a folder, and makes the folder if there is none.
// For each run it writes results-VERSION.json. All other files can be made again from it,
// and conformance-VERSION.yaml. For all runs together it writes index.html, junit.xml and
// summary.md. It replaces files of the same names, each as a whole. It removes results and
// conformance reports of earlier runs. If all runs are shards, those of other shards stay,
// because a folder may gather them.
func Write(dir string, runs []report.Run) error {
	if len(runs) == 0 {
		return errors.New("report: write: there is no run")
	}
	files := map[string][]byte{}
	for i, title := range report.Labels(runs) {
		if part := runs[i].Part(); !strings.Contains(title, part) {
			// Shards may have one folder.
			title += " " + part
		}
		name := fileName(title)
		for n := 2; files[resultsPrefix+name+resultsSuffix] != nil; n++ {
			name = fmt.Sprintf("%s-%d", fileName(title), n)
		}
		results, err := report.Encode(runs[i])
		if err != nil {
			return err
		}
		files[resultsPrefix+name+resultsSuffix] = results
		if files[conformancePrefix+name+".yaml"], err = report.NewConformance(runs[i]).YAML(); err != nil {
			return err
		}
	}
	for name, draw := range map[string]func(io.Writer, []report.Run) error{pageFile: page.Write, junitFile: junit.Write, summaryFile: markdown.Write} {
		var b bytes.Buffer
		if err := draw(&b, runs); err != nil {
			return fmt.Errorf("report: draw %s: %w", name, err)
		}
		files[name] = b.Bytes()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: write: %w: name a folder in which you may write", err)
	}
	var errs []error
	for name, data := range files {
		errs = append(errs, replace(filepath.Join(dir, name), data))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	whole := slices.ContainsFunc(runs, func(r report.Run) bool { return r.Shard == "" })
	return removeStale(dir, func(name string) bool { return files[name] != nil || !whole && ofShard.MatchString(name) })
}

// Prepare makes the folder of a report if there is none. It fails if [Write] could not write
// into it, so that the error comes before a run and not after it.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: prepare: %w: name a folder in which you may write", err)
	}
	f, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return fmt.Errorf("report: prepare %s: %w: name a folder in which you may write", dir, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

var (
	ofRun   = regexp.MustCompile(`^(results-.*\.json|conformance-.*\.yaml)$`)
	ofShard = regexp.MustCompile(`-shard-[0-9]+-[0-9]+(-[^.]*)?\.(json|yaml)$`)
)

// removeStale removes the files of runs that must not stay.
func removeStale(dir string, keep func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("report: look for what an earlier run left: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if e.Type().IsRegular() && ofRun.MatchString(e.Name()) && !keep(e.Name()) {
			errs = append(errs, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("report: remove what an earlier run left: %w", err)
	}
	return nil
}

var notInFileName = regexp.MustCompile(`[^a-zA-Z0-9.]+`)

// fileName makes a part of a file name from a title.
func fileName(title string) string {
	return strings.Trim(notInFileName.ReplaceAllString(title, "-"), "-")
}

// replace writes a file. A reader sees the old file or the new one, never a half.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("report: write %s: %w", path, err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("report: write %s: %w", path, err), os.Remove(f.Name()))
	}
	return nil
}

// maxFile bounds a results file, in bytes. One of all built-in cases has 2.4 MB.
const maxFile = 64 << 20

// Load reads runs from results files. Each path is such a file, or a folder with files named
// results-*.json. If the folder itself has none, Load reads those of all folders below it:
// downloaded artifacts of CI have that form. The runs come in the order of the paths and, in
// a folder, in the order of the paths of its files.
//
// [report.Decode] says which files are refused. The error has a line for each of them.
func Load(paths ...string) ([]report.Run, error) {
	if len(paths) == 0 {
		return nil, errors.New("report: load: no path was given: name a results file, or a folder with some")
	}
	var runs []report.Run
	var errs []error
	for _, path := range paths {
		files, err := resultsFiles(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("report: load: %w", err))
			continue
		}
		for _, file := range files {
			r, err := loadFile(file)
			if err != nil {
				errs = append(errs, fmt.Errorf("report: load %s: %w", file, err))
				continue
			}
			runs = append(runs, r)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return runs, nil
}

// resultsFiles returns the results files of a path, at least one.
func resultsFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name a results file, or a folder with some", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var here, below []string
	// With the separator behind the path the walk enters a symbolic link to a folder.
	err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		// Match fails only for a pattern with a wrong syntax.
		if ok, _ := filepath.Match(resultsPrefix+"*"+resultsSuffix, entry.Name()); !ok {
			return nil
		}
		file = filepath.Clean(file)
		if filepath.Dir(file) == filepath.Clean(path) {
			here = append(here, file)
		}
		below = append(below, file)
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(below) == 0:
		return nil, fmt.Errorf("%s: neither the folder nor one below it has a file %s*%s: name the folder that meshproof run --report wrote", path, resultsPrefix, resultsSuffix)
	case len(here) > 0:
		return here, nil
	default:
		return below, nil
	}
}

func loadFile(path string) (report.Run, error) {
	data, err := input.ReadUpTo(path, maxFile)
	if err != nil {
		return report.Run{}, err
	}
	return report.Decode(data)
}
