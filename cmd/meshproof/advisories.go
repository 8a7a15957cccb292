package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/advisory"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/matrix"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
)

// advisoriesOptions are the flags of advisories.
type advisoriesOptions struct {
	source sourceOptions
	dump   string
	envoy  envoyFlags
	output outputFormat
}

func newAdvisories() *cobra.Command {
	var o advisoriesOptions
	cmd := &cobra.Command{
		Use:   "advisories [POLICIES…]",
		Short: "Say which security advisories an Envoy has, and which requests pass policies by them",
		Long: `Advisories runs the cases of released security advisories on an Envoy, and says which of the flaws it has.
The Envoy itself is asked: a version says nothing, because fixes are ported back and can be switched off.

With POLICIES, files or folders with policies or cases, it looks for requests that the policies refuse and that this
Envoy serves because of a flaw, and sends them. With --config-dump the Envoy is of the version that a sidecar's dump
states. Exit status 1 where the Envoy has an advisory.`,
		Example: `  meshproof advisories --envoy 1.38.3
  meshproof advisories policies/ --envoy 1.36.4 --output sarif
  meshproof advisories policies/ --config-dump dump.json`,
		RunE: func(cmd *cobra.Command, paths []string) error {
			return o.run(cmd.Context(), paths, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.add(cmd)
	cmd.Flags().StringVar(&o.dump, "config-dump", "", "answer of a sidecar's admin endpoint to /config_dump, for the version of its Envoy")
	o.envoy.add(cmd)
	addOutput(cmd, &o.output, outputSARIF)
	return cmd
}

func (o *advisoriesOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	known, err := advisory.BuiltIn()
	if err != nil {
		return err
	}
	readings, err := o.readings(paths)
	if err != nil {
		return err
	}
	doubts, err := o.readVersion()
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(stderr, len(readings))
	defer progress.Stop()
	h, err := o.envoy.start(progress.Count(ctx))
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(h.Close())) }()
	runner := suite.Runner{Harness: h, Kept: true}
	ran := runner.Run(progress.Count(ctx), advisory.CasesOf(known)...)
	report := advisory.NewReport(known, ran)
	report.Envoy, report.Runtime, report.Behavior = h.Version(), h.Runtime().String(), h.Behavior()
	report.Problems = doubts
	ran = append(ran, report.Search(readings, func(r *verdict.Reading) result.Case { return runner.Reading(progress.Count(ctx), r) })...)
	if err := errors.Join(context.Cause(ctx), machineError(suite.Outage(ran))); err != nil {
		return err
	}
	progress.Stop()
	if o.output == outputSARIF {
		err = terminal.WriteJSON(stdout, report.SARIF(matrix.Version()))
	} else {
		err = printResult(stdout, o.output, report)
	}
	return withFailure(exitFor(false, !report.Holds()), err)
}

// readVersion takes the version of Envoy from the dump, and returns what else the dump says of
// the Envoy that may change how it judges. A version of the flags comes first.
func (o *advisoriesOptions) readVersion() (doubts []string, err error) {
	if o.dump == "" {
		return nil, nil
	}
	found, err := readDump(o.dump)
	if err != nil {
		return nil, err
	}
	if o.envoy.version = cmp.Or(o.envoy.version, found.Envoy); o.envoy.version == "" {
		return nil, fmt.Errorf("--config-dump: %s: the dump does not state the version of its Envoy, because it has no bootstrap: name the version with --envoy", o.dump)
	}
	return found.DoubtsOfEnvoy(o.envoy.version), nil
}

// readings reads the policies, with the inbounds that they are about.
func (o *advisoriesOptions) readings(paths []string) ([]*verdict.Reading, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	files, s, err := o.source.open(paths)
	if err != nil {
		return nil, err
	}
	subjects, _, err := o.source.casesOf(files, s)
	if err != nil {
		return nil, err
	}
	return lab.ReadAll(subjects)
}
