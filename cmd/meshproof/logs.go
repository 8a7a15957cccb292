package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// envoyLogs are the files of --envoy-log, by version; none where no path is given.
type envoyLogs struct {
	path    string
	several bool
	files   map[string]*os.File
}

func (l *envoyLogs) open(versions []string) error {
	if l.path == "" {
		return nil
	}
	l.files = map[string]*os.File{}
	if len(versions) == 0 {
		versions = []string{""}
	}
	for _, version := range versions {
		path := l.path
		if l.several {
			path += "." + version
		}
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			return fmt.Errorf("--envoy-log: %w", err)
		}
		l.files[version] = file
	}
	return nil
}

// writer returns the file for the log of a version, nil for none.
func (l *envoyLogs) writer(version string) io.Writer {
	if file := l.files[version]; file != nil {
		return file
	}
	return nil
}

func (l *envoyLogs) close() error {
	var errs []error
	for _, file := range l.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
