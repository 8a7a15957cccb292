package matrix

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Logs are the files that the Envoys of a run log into, by version.
type Logs map[string]*os.File

// OpenLogs creates the file at path. For several versions it creates a file for each, whose
// name ends in the version. For the path "" it creates none.
func OpenLogs(path string, versions []string) (Logs, error) {
	l := Logs{}
	if path == "" {
		return l, nil
	}
	if len(versions) == 0 {
		versions = []string{""}
	}
	for _, version := range versions {
		name := path
		if len(versions) > 1 {
			name += "." + version
		}
		file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: name a file that you may write", err), l.Close())
		}
		l[version] = file
	}
	return l, nil
}

// Writer returns the file for the log of a version, nil for none.
func (l Logs) Writer(version string) io.Writer {
	if file := l[version]; file != nil {
		return file
	}
	return nil
}

// Close closes the files.
func (l Logs) Close() error {
	var errs []error
	for _, file := range l {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
