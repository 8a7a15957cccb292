package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/harness"
)

// envoyFlags are the flags that say which Envoy is asked, and how it is run.
type envoyFlags struct {
	version string
	runtime harness.Runtime
}

func (e *envoyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&e.version, "envoy", "", "version of Envoy, see meshproof envoy list (default "+harness.DefaultVersion+", or that of ENVOY_BIN or ENVOY_IMAGE)")
	flags.Var(textFlag{&e.runtime, "auto|container|process"}, "runtime", "how to run Envoy")
	completeValues(cmd, "runtime")
	completeFunc(cmd, "envoy", completeVersions)
}

// start boots the Envoy.
func (e *envoyFlags) start(ctx context.Context) (*harness.Harness, error) {
	h, err := harness.Start(ctx, harness.WithEnvoy(e.version), harness.WithRuntime(e.runtime))
	if err != nil {
		return nil, startError(err)
	}
	return h, nil
}

// startError tells an unknown version, which is bad input, from a machine that cannot run
// Envoy.
func startError(err error) error {
	if errors.Is(err, harness.ErrUnknownVersion) {
		return err
	}
	return machineError(err)
}

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
