package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/flagvalue"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/optionflag"
	"github.com/meshproof/meshproof/internal/report/summary"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// sourceOptions are the flags that say which inbound policy files are about. In a
// case file the inbounds are stated.
type sourceOptions struct {
	inbound policy.Inbound
	port    uint16
	only    string
	filter  lab.Choice
	options optionflag.Set
	// trustDomain is the mesh's own; the zero value means the default.
	trustDomain spiffeid.TrustDomain
	// dialect is that of the policies which are read, "" where all are.
	dialect string
	// strict refuses documents of other kinds, which are otherwise told on stderr.
	strict bool
	stderr io.Writer
	// policies is a path whose policies stand in for those of the cases.
	policies string
	// routing is true for a command that reads routes, timeouts and services.
	routing bool
	// flags tells which of them were set.
	flags *pflag.FlagSet
}

func (o *sourceOptions) add(cmd *cobra.Command) {
	o.flags = cmd.Flags()
	addStrict(cmd, &o.strict)
	cmd.PreRun = func(cmd *cobra.Command, _ []string) { o.stderr = cmd.ErrOrStderr() }
	flags := newFlags()
	w := &o.inbound.Workload
	flags.StringVar(&w.Name, "workload", "backend", "name of the workload")
	flags.StringVar(&w.Namespace, "namespace", "default", "namespace of the workload")
	flags.StringVar(&w.Mesh, "mesh", "default", "mesh of the workload")
	flags.StringVar(&w.Zone, "zone", "", "zone of the workload")
	addLabels(flags, &w.Labels, "workload")
	flags.StringVar(&o.inbound.Name, "inbound", "", "name of the inbound")
	flags.Var(flagvalue.Port(&o.port, 8080), "port", "`number` of the port of the inbound")
	flags.Var(flagvalue.Text(&o.inbound.Protocol, "http|http2|grpc|tcp"), "protocol", "protocol of the inbound")
	flags.StringVar(&w.Origin, "origin", "", "origin of the workload, global or zone; zone where --zone is set")
	var names []string
	for _, d := range dialects.Having[language.Dialect]() {
		names = append(names, d.Name())
	}
	flags.Var(flagvalue.OneOf(&o.dialect, names...), "dialect", "leave out the policies of all other dialects")
	o.options.Add(flags)
	flags.Var(flagvalue.Text(&o.trustDomain, "name"), "trust-domain", "trust domain of the mesh, and of the service accounts that policies name, trust-domain.mesh where it is empty")
	addGroup(cmd, policyFiles, flags)
	cmd.Flags().StringVar(&o.only, "to", "", "only this inbound, as workload/inbound: of a case, of a Dataplane, or made for a policy; of explain and compile also a port of a service, as MeshService/backend:80")
	addCaseFilter(cmd, &o.filter)
	completeValues(cmd, "protocol")
	completeValues(cmd, "dialect")
	completeOptions(cmd, o.options)
	cmd.ValidArgsFunction = completeFiles
}

func (o *sourceOptions) choice() lab.Choice { return o.filter }

// subjects reads files and folders, and returns the inbounds that they describe.
func (o *sourceOptions) subjects(paths []string) ([]lab.Subject, error) {
	files, s, err := o.open(paths)
	if err != nil {
		return nil, err
	}
	return o.subjectsOf(files, s)
}

// subjectsOf returns the inbounds that the files describe: none where they have routes alone, or
// where an outbound is chosen.
func (o *sourceOptions) subjectsOf(files *lab.Files, s lab.Surroundings) ([]lab.Subject, error) {
	if files.OnlyRouting() || lab.NamesOutbound(o.only) && len(files.Meshes(lab.Surroundings{})) > 0 {
		return nil, nil
	}
	out, err := files.Subjects(o.only, s)
	if !files.HasCases && !files.HasDataplanes && o.only == "" && o.inboundFlag() == "" {
		lab.Assume(o.stderr, out)
	}
	return out, o.nothingLeft(err)
}

func (o *sourceOptions) leaveOut(all ...*lab.Files) error {
	for _, files := range all {
		if o.dialect != "" {
			files.KeepDialect(o.dialect)
		}
		if o.routing {
			files.TakeRouting()
		}
	}
	if unused := o.options.Unused(lab.DocumentsOf(all...)); unused != "" && o.strict {
		return errors.New(unused)
	} else if unused != "" {
		fmt.Fprintf(o.stderr, "meshproof: warning: %s\n", unused)
	}
	return lab.LeaveOut(o.stderr, o.strict, all...)
}

// explainer returns the command that explains requests to the inbounds of a case which was
// read from the paths. The further arguments are for a case that was made of policies.
func (o *sourceOptions) explainer(paths []string, c lab.Case, further ...string) explanation.Command {
	if !c.Generated {
		return explanation.NewCommand(summary.Arguments(c.Case, false)...)
	}
	return explanation.NewCommand(slices.Concat(paths, o.words(), further)...)
}

// words are the given flags about policy files, of the two sets of diff those about NEW,
// without those of the names.
func (o *sourceOptions) words(without ...string) []string {
	var out []string
	o.flags.Visit(func(f *pflag.Flag) {
		name, isOfNew := strings.CutPrefix(f.Name, "new-")
		if (isOfNew || policyFiles.isOf(f)) && !slices.Contains(without, name) {
			out = append(out, "--"+name+"="+flagValue(f))
		}
	})
	return out
}

// judge returns the exit status of a result that was printed: with --strict, a warning fails.
func (o *sourceOptions) judge(subjects []lab.Subject) error {
	return exitFor(false, o.strict && slices.ContainsFunc(subjects, lab.Subject.HasUnexpectedWarning))
}

// cases reads files and folders, and returns the cases with described inbounds.
func (o *sourceOptions) cases(paths []string) ([]lab.Case, *lab.Files, error) {
	files, s, err := o.open(paths)
	if err != nil {
		return nil, nil, err
	}
	all, err := files.CasesFor(s, files.Inbounds())
	return all, files, o.nothingLeft(err)
}

// casesOf returns the cases with inbounds for all policies.
func (o *sourceOptions) casesOf(files *lab.Files, s lab.Surroundings) ([]lab.Case, lab.Population, error) {
	all, population, err := files.CasesInFull(s)
	if err == nil {
		all, err = files.Choose(all, o.only)
	}
	return all, population, o.nothingLeft(err)
}

func (o *sourceOptions) open(paths []string) (*lab.Files, lab.Surroundings, error) {
	open := lab.Open
	if len(paths) == 0 {
		open = lab.OpenBuiltIn
	}
	files, err := open(o.choice(), paths...)
	if err == nil && o.policies != "" {
		err = files.ReplacePolicies(o.policies)
	}
	if err != nil {
		return nil, lab.Surroundings{}, err
	}
	if err := o.checkFilesFlags(files); err != nil {
		return nil, lab.Surroundings{}, err
	}
	if err := errors.Join(o.leaveOut(files), files.CheckDialect()); err != nil {
		return nil, lab.Surroundings{}, err
	}
	if files.Empty() && o.dialect != "" || files.KeptNothing() {
		return nil, lab.Surroundings{}, o.noneOf(files)
	}
	if files.Empty() && o.inboundFlag() == "" {
		return nil, lab.Surroundings{}, fmt.Errorf("%s: there is no policy, no Dataplane and no case: describe an inbound by flags, such as --workload and --port, to prove what it does without policies: it denies all callers in Kuma, and lets them in where --istio says that they are Istio's", files.Name)
	}
	s, err := o.surroundings()
	return files, s, err
}

// noneOf is the error of files without a policy of the dialect that is chosen.
func (o *sourceOptions) noneOf(files *lab.Files) error {
	return fmt.Errorf("%s: there is no policy of %s: leave --dialect out, or name another dialect", files.Name, o.dialect)
}

// nothingLeft tells a choice that leaves no inbound from files in which there is nothing to
// ask. It returns any other error as it is.
func (o *sourceOptions) nothingLeft(err error) error {
	nothing := (*lab.NothingError)(nil)
	switch {
	case errors.As(err, &nothing) && o.flags.Changed("case"):
		return fmt.Errorf("%s: no inbound is left: check --case", nothing.Files)
	case errors.As(err, new(*lab.NoInboundError)):
		return fmt.Errorf("--to: %w", err)
	}
	return err
}

// surroundings returns what the flags say about policy files.
func (o *sourceOptions) surroundings() (lab.Surroundings, error) {
	in := o.inbound
	in.Port = o.port
	s, err := lab.NewSurroundings(in, language.Options{Dialect: o.dialect, Document: o.options.Document(), TrustDomain: o.trustDomain})
	if err != nil {
		err = fmt.Errorf("--origin: %w", err)
	}
	return s, err
}

// checkFlags refuses a flag about a kind of file if there is no such file.
func (o *sourceOptions) checkFlags(sawPolicies, sawCase bool) (err error) {
	saw := map[flagGroup]bool{policyFiles: sawPolicies || !sawCase, caseFiles: sawCase}
	o.flags.Visit(func(f *pflag.Flag) {
		for kind, isThere := range saw {
			if kind.isOf(f) && !isThere {
				err = fmt.Errorf("--%s is about %s, and there is none: leave it out", f.Name, kind)
			}
		}
	})
	return err
}

// checkFilesFlags refuses a flag that concerns none of the files.
func (o *sourceOptions) checkFilesFlags(all ...*lab.Files) error {
	policySet := slices.ContainsFunc(all, (*lab.Files).HasPolicySet)
	hasCases := slices.ContainsFunc(all, func(f *lab.Files) bool { return f.HasCases })
	hasDataplanes := slices.ContainsFunc(all, func(f *lab.Files) bool { return f.HasDataplanes })
	if err := o.checkFlags(policySet, hasCases); err != nil {
		return err
	}
	flag := o.inboundFlag()
	if flag != "" && hasDataplanes {
		return fmt.Errorf("--%s: the Dataplanes say what inbounds there are: leave it out", flag)
	}
	return nil
}

// inboundFlag returns the first given flag that describes an inbound, "" where there is
// none.
func (o *sourceOptions) inboundFlag() string {
	for _, name := range explanation.InboundFlags {
		if o.flags.Changed(name) {
			return name
		}
	}
	return ""
}
