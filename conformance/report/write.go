package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

// Write writes everything about the runs into a folder, which it makes where there is
// none: for each run results-VERSION.json, from which all else can be drawn anew, and
// conformance-VERSION.yaml; for all of them index.html, junit.xml and summary.md.
// Files of the same names are replaced, each as a whole.
func Write(dir string, runs []Run) error {
	if len(runs) == 0 {
		return errors.New("report: write: there is no run")
	}
	files := map[string][]byte{}
	for i, title := range Labels(runs) {
		if shard := runs[i].Shard; shard != "" && len(runs) == 1 {
			// Shards may share a folder.
			title += " shard " + shard
		}
		name := fileName(title)
		for n := 2; files[resultsPrefix+name+resultsSuffix] != nil; n++ {
			name = fmt.Sprintf("%s-%d", fileName(title), n)
		}
		results, err := marshal(runs[i])
		if err != nil {
			return err
		}
		files[resultsPrefix+name+resultsSuffix] = results
		if files[conformancePrefix+name+".yaml"], err = NewConformance(runs[i]).YAML(); err != nil {
			return err
		}
	}
	for name, draw := range map[string]func(io.Writer, []Run) error{pageFile: HTML, junitFile: JUnit, summaryFile: Markdown} {
		var b bytes.Buffer
		if err := draw(&b, runs); err != nil {
			return fmt.Errorf("report: draw %s: %w", name, err)
		}
		files[name] = b.Bytes()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: write: %w", err)
	}
	var errs []error
	for name, data := range files {
		errs = append(errs, replace(filepath.Join(dir, name), data))
	}
	return errors.Join(errs...)
}

var notInFileName = regexp.MustCompile(`[^a-zA-Z0-9.]+`)

// fileName makes a part of a file name of a title.
func fileName(title string) string {
	return strings.Trim(notInFileName.ReplaceAllString(title, "-"), "-")
}

func marshal(r Run) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r); err != nil {
		return nil, fmt.Errorf("report: write the results: %w", err)
	}
	return b.Bytes(), nil
}

// replace writes a file so that a reader sees the old one or the new one.
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
