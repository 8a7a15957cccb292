package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/meshproof/meshproof/internal/report"
)

// maxFile bounds a results file, in bytes. One of all built-in cases has 2.4 MB.
const maxFile = 256 << 20

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
		return nil, err
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
	f, err := os.Open(path)
	if err != nil {
		return report.Run{}, err
	}
	defer f.Close()
	data, err := readBounded(f, maxFile)
	if err != nil {
		return report.Run{}, err
	}
	return report.Decode(data)
}

// readBounded reads everything. It fails for more than a number of bytes.
func readBounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("the file has more than %d bytes: it is no results file", most)
	}
	return data, err
}
