package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	source       sourceOptions
	oldFlags     sideFlags
	newFlags     sideFlags
	output       outputFormat
	confirm      bool
	denyWidening bool
	anyNames     bool
	version      string
	runtime      harness.Runtime
	report       string
}

func newDiff() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "List every class of requests that a change of policies decides otherwise",
		Long: `Diff cuts the requests to each inbound into classes that both sets of policies decide alike, and
lists each class whose decision, shadow or deciding policy changes, with a request of it and the rules
that decide. OLD and NEW are files or folders as for prove, or have no policy at all: nothing is allowed
by none of Kuma's, everything by no AuthorizationPolicy. Cases are compared by their names. Policies are
compared on the inbounds of NEW, on those of OLD where NEW says nothing of inbounds.

Exit status: 0; 1 with --deny-widening where somebody gets in who did not before, where plaintext is let
in, or where NEW has a case that OLD has not; 1 with --confirm where Envoy decides otherwise than the
policies say.`,
		Example: `  meshproof diff main/policies pr/policies --deny-widening
  meshproof diff old.yaml new.yaml --label app=backend --confirm
  meshproof diff option1.yaml option3.yaml --new-kuma-option option3 --any-names`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("two sets of policies are compared, there %s: see %s --help", are(len(args)), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			if o.report != "" && !o.confirm {
				return errors.New("--report: without --confirm there is no evidence to report: add it")
			}
			return o.run(cmd.Context(), paths[0], paths[1], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.add(cmd)
	flags := cmd.Flags()
	o.oldFlags.add(cmd, o.source.options, "OLD")
	o.newFlags.add(cmd, o.source.options, "NEW")
	flags.BoolVar(&o.confirm, "confirm", false, "show each change on a real Envoy, under the old policies and the new ones")
	flags.BoolVar(&o.denyWidening, "deny-widening", false, "exit with 1 where access widens, or nobody can tell")
	flags.BoolVar(&o.anyNames, "any-names", false, "do not compare the names of the policies that decide")
	addLab(cmd, &o.version, &o.runtime)
	flags.StringVar(&o.report, "report", "", "with --confirm: write results, conformance report, page, JUnit and summary into this folder")
	addOutput(cmd, &o.output)
	return cmd
}

func (o *diffOptions) run(ctx context.Context, before, after string, stdout, stderr io.Writer) error {
	d, err := o.pairs(before, after)
	if err != nil {
		return err
	}
	d.asked = o.confirm
	for i := range d.all {
		one := &d.all[i]
		if one.found, err = proof.Compare(one.old.Case, one.recent.Case); err != nil {
			return err
		}
		if o.anyNames {
			one.forgetNames()
		}
	}
	if o.confirm && d.changes() > 0 {
		if err := prepareReport(o.report); err != nil {
			return err
		}
		if err := o.confirmAll(ctx, d, stderr); err != nil {
			return err
		}
	}
	if o.output == outputJSON {
		err = d.writeJSON(stdout)
	} else {
		d.writeText(stdout, terminal.PaintFor(stdout))
	}
	return also(d.exit(o.denyWidening), err)
}

// confirmAll shows all changes on one Envoy.
func (o *diffOptions) confirmAll(ctx context.Context, d *difference, stderr io.Writer) (err error) {
	began := time.Now()
	h, err := startLab(ctx, o.version, o.runtime)
	if err != nil {
		return err
	}
	defer func() { err = also(err, closed(h.Close())) }()
	progress := terminal.NewProgress(stderr, 2*d.changed())
	defer progress.Stop()
	runner := suite.Runner{Harness: h, Kept: true, AnyNames: o.anyNames, Done: func(r result.Case) { progress.End(r.Case.Name, r.Failed()) }}
	run := labReport(ctx, h, began)
	for i := range d.all {
		one := &d.all[i]
		if one.changes() == 0 {
			continue
		}
		old, recent := proof.Confirm(one.old.Case, one.recent.Case, one.found)
		old.Name, recent.Name = old.Name+" (old)", recent.Name+" (new)"
		results := runner.Run(ctx, old, recent)
		one.before, one.after = &results[0], &results[1]
		for _, r := range results {
			run.Add(labCase(r, "diff", "", run))
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d.envoy = h.Version()
	return writeLabReport(o.report, run, began)
}
