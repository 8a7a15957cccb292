package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/diff"
	"github.com/meshproof/meshproof/internal/optionflag"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/terminal"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	source                      sourceOptions
	oldFlags, newFlags          optionflag.Side
	output                      outputFormat
	confirm, anyNames           bool
	denyWidening, denyAllOthers bool
	envoy                       envoyFlags
	report, kept                string
	// sideBySide is true for compare, which may have a file of workloads.
	sideBySide, svids bool
	workloads         string
}

func newDiff() *cobra.Command {
	var o diffOptions
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "List every class of requests that a change of policies decides otherwise",
		Long: `Diff cuts the requests to each inbound into classes that both sets of policies decide alike, and
lists each class whose decision, shadow or deciding policy changes, with a request of it and the rules
that decide. OLD and NEW are files or folders as for prove. One of them may have no policy: without a policy
of Kuma nobody gets in, and without an AuthorizationPolicy everybody does. Cases are compared by their names.
Policies are compared on the Dataplanes of both sides, or on those of the side that has some. For a policy that
selects none of them an inbound is made, and one for each two policies that can select one workload together.
Routes and timeouts are compared for the workloads that send: which requests go elsewhere, and which may wait
longer.

Exit status: 0; 1 if a policy cannot be asked; 1 with --deny-widening if a caller gets in who did not before, if
an inbound takes plaintext now, if NEW has a case that OLD lacks, or if a document beside the policies changes
that may let callers in; 1 with --deny-other-changes if anything but the policies changes; 1 with --strict if NEW
has a warning; 1 with --confirm if Envoy does not decide as the policies say.`,
		Example: `  meshproof diff main/policies pr/policies --deny-widening
  meshproof diff old.yaml new.yaml --label app=backend --confirm
  meshproof diff option1.yaml option3.yaml --new-kuma-option option3 --any-names`,
		Args: needTwo("sets of policies"),
		RunE: func(cmd *cobra.Command, paths []string) error {
			if o.report != "" && !o.confirm {
				return errors.New("--report: without --confirm there is no evidence to report: add it")
			}
			return o.run(cmd.Context(), paths[0], paths[1], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.source.add(cmd)
	o.addSides(cmd, "OLD", "NEW")
	flags := cmd.Flags()
	flags.BoolVar(&o.confirm, "confirm", false, "show each change on a real Envoy, under the old policies and the new ones")
	flags.BoolVar(&o.denyWidening, "deny-widening", false, "exit with 1 if access widens, or may widen")
	flags.BoolVar(&o.denyAllOthers, "deny-other-changes", false, "exit with 1 if anything but the policies changes, whether or not it can matter")
	flags.BoolVar(&o.anyNames, "any-names", false, "do not compare the names of the policies that decide")
	o.envoy.add(cmd)
	flags.StringVar(&o.report, "report", "", "with --confirm: write results, conformance report, page, JUnit and summary into this folder")
	flags.StringVar(&o.kept, "cases", "", "write the requests of the changes into case files of this folder: old.yaml and new.yaml")
	addOutput(cmd, &o.output, outputMarkdown)
	return cmd
}

// addSides adds the flags for one of the two sets, which have these names.
func (o *diffOptions) addSides(cmd *cobra.Command, old, recent string) {
	flags := newFlags()
	o.oldFlags.Add(flags, o.source.options, old)
	o.newFlags.Add(flags, o.source.options, recent)
	addGroup(cmd, oneOfTwoSets, flags)
	completeOptions(cmd, o.source.options)
}

func (o *diffOptions) run(ctx context.Context, before, after string, stdout, stderr io.Writer) error {
	old, recent, err := diff.OpenSides(o.source.choice(), before, after, o.workloads)
	if err != nil {
		return err
	}
	if err := o.source.checkFilesFlags(old, recent); err != nil {
		return err
	}
	o.source.routing = !o.sideBySide
	if err := o.source.leaveOut(old, recent); err != nil {
		return err
	}
	if old.KeptNothing() && recent.KeptNothing() {
		return o.source.noneOf(old)
	}
	if old.Empty() && recent.Empty() && o.source.inboundFlag() == "" {
		return fmt.Errorf("neither %s nor %s has a policy, a Dataplane or a case: there is nothing to compare", before, after)
	}
	s, err := o.source.surroundings()
	if err != nil {
		return err
	}
	ofOld, ofNew := s, s
	ofOld.Options.Document, ofNew.Options.Document = o.oldFlags.Overriding(o.source.options).Document(), o.newFlags.Overriding(o.source.options).Document()
	was, is := diff.Side{Files: old, Surroundings: ofOld}, diff.Side{Files: recent, Surroundings: ofNew}
	layers := diff.Layers(was, is)
	if len(layers) == 0 || o.sideBySide {
		if err := errors.Join(old.CheckDialect(), recent.CheckDialect()); err != nil {
			return err
		}
		return o.compare(ctx, was, is, []string{after}, stdout, stderr)
	}
	if o.output != outputText && o.output != outputMarkdown || o.report != "" || o.kept != "" {
		return fmt.Errorf("%s and %s have policies of several dialects, which are compared one after the other: choose those of one by --dialect, or leave out --report, --cases and other outputs than text and markdown", before, after)
	}
	var failed []string
	for _, l := range layers {
		fmt.Fprintf(stdout, "The policies of %s:\n\n", l.Dialect)
		err := o.compare(ctx, l.Old, l.Recent, []string{after, "--dialect=" + l.Dialect}, stdout, stderr)
		if exit := (*exitError)(nil); err != nil && (!errors.As(err, &exit) || exit.code != exitDiffers) {
			return err
		}
		if err != nil {
			failed = append(failed, l.Dialect)
		}
		fmt.Fprintln(stdout)
	}
	if len(failed) > 0 {
		fmt.Fprintf(stdout, "What fails: the policies of %s\n", strings.Join(failed, " and "))
	}
	return exitFor(false, len(failed) > 0)
}

// compare compares two sides, and prints the difference. A command reads the second side by the arguments.
func (o *diffOptions) compare(ctx context.Context, old, recent diff.Side, arguments []string, stdout, stderr io.Writer) error {
	compare := diff.Diff
	if o.sideBySide {
		compare = diff.DiffBeside
	}
	d, err := compare(old, recent, o.source.only)
	if err != nil {
		return o.source.nothingLeft(err)
	}
	d.Arguments = func(without ...string) []string {
		return append(slices.Clone(arguments), o.source.words(without...)...)
	}
	d.ToConfirm, d.DenyWidening, d.Strict = o.confirm, o.denyWidening, o.source.strict
	if o.anyNames {
		d.ForgetNames()
	}
	if o.denyAllOthers {
		if err := d.DenyOtherChanges(); err != nil {
			return err
		}
	}
	var as judged = d
	if o.sideBySide {
		as = diff.Sides{Difference: d, SVIDs: o.svids}
	}
	// Where nothing changes, a report says so in the place of the one of an older run.
	if o.confirm && (d.Changed() > 0 || o.report != "") {
		if err := prepareReport(o.report); err != nil {
			return err
		}
		if err := o.confirmAll(ctx, d, as, stderr); err != nil {
			return err
		}
	}
	printNotes(stderr, shortened(dialects.Drafts(recent.All())))
	if err := d.Keep(o.kept, stderr); err != nil {
		return fmt.Errorf("--cases: %w", err)
	}
	return o.print(stdout, d, as)
}

// judged is a difference with what makes its command fail.
type judged interface {
	printed
	Markdown() string
	Failures() []string
}

// print prints a difference, and returns the exit status.
func (o *diffOptions) print(stdout io.Writer, d *diff.Difference, as judged) (err error) {
	if o.output == outputMarkdown {
		_, err = io.WriteString(stdout, as.Markdown())
	} else {
		err = printResult(stdout, o.output, as)
	}
	return withFailure(exitFor(d.Confirmed().Fault, d.Confirmed().Failed+len(as.Failures()) > 0), err)
}

// confirmAll shows all changes on one Envoy. The report has a case that failed where the command does.
func (o *diffOptions) confirmAll(ctx context.Context, d *diff.Difference, as judged, stderr io.Writer) (err error) {
	began := time.Now()
	progress := terminal.NewProgress(stderr, 2*d.Changed())
	defer progress.Stop()
	h, err := o.envoy.start(progress.Count(ctx))
	if err != nil {
		return err
	}
	defer func() { err = withFailure(err, newEndError(h.Close())) }()
	runner := suite.Runner{Harness: h, Kept: true, AnyNames: o.anyNames, Done: func(r result.Case) { progress.End(r.Case.Name, r.Failed()) }}
	var results []result.Case
	if d.Changed() > 0 {
		results, err = d.Confirm(progress.Count(ctx), h.Version(), runner.Readings)
	}
	if err := errors.Join(err, machineError(suite.Outage(results))); err != nil {
		return err
	}
	run := beginReport(ctx, h, began)
	for _, r := range results {
		run.Add(reportCase(r, "diff", "", run))
	}
	addAsWhole(&run, "the change", as.Failures())
	return writeReport(o.report, run, began)
}
