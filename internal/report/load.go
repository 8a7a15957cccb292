package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile bounds a results file, in bytes. One of all built-in cases has 2.4 MB.
const maxFile = 256 << 20

// Load reads runs from results files. Each path is such a file, or a folder: its files
// named results-*.json, or where it has none those of all folders below it, as
// downloaded artifacts of CI lie. The runs come in the order of the paths and, within
// a folder, of its files' paths.
//
// A file is refused with a field or a feature that this version does not know, with
// counts that its cases do not add up to, or with a case whose evidence has another
// hash than it says. The error has a line for each file that was refused.
func Load(paths ...string) ([]Run, error) {
	if len(paths) == 0 {
		return nil, errors.New("report: load: no path was given: name a results file, or a folder with some")
	}
	var runs []Run
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

// resultsFiles returns the results files that a path leads to, at least one.
func resultsFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var here, below []string
	// The separator behind the path makes the walk enter a symbolic link to a folder.
	err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		// The pattern is sound, which is the only thing that Match complains of.
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

func loadFile(path string) (Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return Run{}, err
	}
	defer f.Close()
	data, err := readBounded(f, maxFile)
	if err != nil {
		return Run{}, err
	}
	return decode(data)
}

// readBounded reads all there is, unless it is more than a number of bytes.
func readBounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, fmt.Errorf("the file has more than %d bytes: it is no results file", most)
	}
	return data, err
}

// decode reads one run and checks it against itself.
func decode(data []byte) (Run, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	var r Run
	if err := decoder.Decode(&r); err != nil {
		return Run{}, fmt.Errorf("not a results file of this version of meshproof, but maybe of a newer one: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Run{}, errors.New("something follows the run: a results file has one run")
	}
	if err := r.check(); err != nil {
		return Run{}, err
	}
	return r, nil
}

// check reports a run that contradicts itself.
func (r Run) check() error {
	if r.Envoy == "" || r.Meshproof == "" {
		return errors.New("it names no version of Envoy, or of meshproof: not a results file")
	}
	if r.Shard != "" {
		if _, err := ParseShard(r.Shard); err != nil {
			return err
		}
	}
	if err := checkTime(r.Milliseconds); err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range r.Cases {
		if c.Case == "" || seen[c.Case] {
			return fmt.Errorf("case %q: its name stands there twice, or is empty", c.Case)
		}
		seen[c.Case] = true
		if err := c.check(); err != nil {
			return err
		}
		if err := c.checkStatus(); err != nil {
			return fmt.Errorf("case %q: %w", c.Case, err)
		}
	}
	t := tally(r.Cases)
	if r.Passed != t.Passed || r.Failed != t.Failed || r.Skipped != t.Skipped+t.NotApplicable {
		return fmt.Errorf("it says that %d cases passed, %d failed and %d were skipped, but of its cases %d, %d and %d did: the file was changed",
			r.Passed, r.Failed, r.Skipped, t.Passed, t.Failed, t.Skipped+t.NotApplicable)
	}
	return nil
}

// checkStatus reports a case whose status is not what its requests and its error
// make it.
func (c Case) checkStatus() error {
	if err := checkTime(c.Milliseconds); err != nil {
		return err
	}
	sound := c.Error == ""
	for i, q := range c.Requests {
		if q.Passed != (len(q.Problems) == 0) {
			return fmt.Errorf("requests[%d]: passed is %t, with %d problems: the file was changed", i, q.Passed, len(q.Problems))
		}
		if err := checkTime(q.Evidence.Milliseconds); err != nil {
			return fmt.Errorf("requests[%d]: %w", i, err)
		}
		sound = sound && q.Passed
	}
	switch {
	case c.NotApplicable && c.Skipped == "":
		return errors.New("it is not applicable, but was not skipped: the file was changed")
	case c.Passed && (!sound || c.Skipped != ""):
		return errors.New("it passed, it says, but it was skipped, or has an error or a request with a problem: the file was changed")
	case !c.Passed && sound && c.Skipped == "":
		return errors.New("it failed, it says, but has no error and no request with a problem: the file was changed")
	}
	return nil
}

// checkTime refuses what no case takes: less than nothing, or more than a year.
func checkTime(milliseconds float64) error {
	if milliseconds < 0 || milliseconds > 365*24*3600*1000 {
		return fmt.Errorf("it took %g ms, it says: that is no time", milliseconds)
	}
	return nil
}
