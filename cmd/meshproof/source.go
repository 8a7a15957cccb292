package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
)

// subject is one inbound with the policies that may apply to it.
type subject struct {
	// caseName is the case that the inbound is from; empty for policy files.
	caseName string
	inbound  policy.Inbound
	set      dialect.Set
	// among are all inbounds that the policies are written for.
	among []policy.Inbound
	// normalization is that of the inbound's listener.
	normalization policy.PathNormalization
}

// title names the inbound, and its case where it has one.
func (s subject) title() string {
	title := fmt.Sprintf("%s (%s)", s.inbound, s.inbound.Protocol)
	if s.caseName != "" {
		title = terminal.Printable(s.caseName) + ": " + title
	}
	return title
}

// warnings are those that lint and lowering have of the policies.
func (s subject) warnings() []policy.Warning { return s.set.Lint(s.among) }

// sourceOptions are the flags that say which inbound policy files are about. In a
// case file the inbounds are stated.
type sourceOptions struct {
	inbound policy.Inbound
	port    uint16
	to      string
	filter  caseFilter
	options dialect.Options
	// flags tells which of them were set.
	flags *pflag.FlagSet
}

func (o *sourceOptions) add(cmd *cobra.Command) {
	o.flags = cmd.Flags()
	flags := newFileFlags()
	w := &o.inbound.Workload
	flags.StringVar(&w.Name, "workload", "backend", "name of the workload")
	flags.StringVar(&w.Namespace, "namespace", "default", "namespace of the workload")
	flags.StringVar(&w.Mesh, "mesh", "default", "mesh of the workload")
	flags.StringVar(&w.Zone, "zone", "", "zone of the workload")
	flags.StringToStringVar(&w.Labels, "label", nil, "label of the workload, as key=value; repeatable")
	flags.StringVar(&o.inbound.Name, "inbound", "", "name of the inbound")
	flags.Uint16Var(&o.port, "port", 8080, "port of the inbound")
	flags.Var(textFlag{&o.inbound.Protocol, "http|http2|grpc|tcp"}, "protocol", "protocol of the inbound")
	flags.StringVar(&w.Origin, "origin", "", "origin of the workload, global or zone; zone where --zone is set")
	addKumaFlags(flags, &o.options.Kuma)
	flags.Var(textFlag{&o.options.Gateway.TrustDomain, "name"}, "trust-domain", "trust domain of the service accounts that an AuthorizationPolicy names, trust-domain.mesh where it is empty")
	addFileFlags(cmd, policyFiles, flags)
	flags = newFileFlags()
	flags.StringVar(&o.to, "to", "", "only this inbound, as workload/inbound")
	flags.Var(&o.filter, "case", "only the cases whose name or story matches this regular expression")
	addFileFlags(cmd, caseFiles, flags)
	completeValues(cmd, "protocol")
	completeKumaFlags(cmd)
	cmd.ValidArgsFunction = completeFiles
}

// subjects reads case files or policy files.
func (o *sourceOptions) subjects(paths []string) ([]subject, error) {
	policies, caseFiles, err := readFiles(paths)
	if err != nil {
		return nil, err
	}
	var out []subject
	sawCase := len(caseFiles) > 0
	for _, all := range caseFiles {
		read, err := o.fromCases(all)
		if err != nil {
			return nil, err
		}
		out = append(out, read...)
	}
	if err := o.checkFlags(len(policies) > 0, sawCase); err != nil {
		return nil, err
	}
	// Without any policy an inbound has filters too: they deny.
	if len(policies) > 0 || !sawCase {
		in, err := o.flagged()
		if err != nil {
			return nil, err
		}
		set, err := dialect.Parse(policies, o.options)
		if err != nil {
			return nil, err
		}
		out = append(out, subject{inbound: in, set: set, among: []policy.Inbound{in}})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no inbound is left: check --case and --to", strings.Join(paths, " "))
	}
	return out, nil
}

// flagged is the inbound that the flags describe.
func (o *sourceOptions) flagged() (policy.Inbound, error) {
	in := o.inbound
	in.Port = o.port
	switch w := &in.Workload; {
	case !slices.Contains([]string{"", "global", "zone"}, w.Origin):
		return policy.Inbound{}, fmt.Errorf("--origin: %q is unknown: use global or zone", w.Origin)
	case w.Origin == "" && w.Zone != "":
		w.Origin = "zone"
	}
	return in, nil
}

// checkFlags refuses a flag that none of the files heeds.
func (o *sourceOptions) checkFlags(sawPolicies, sawCase bool) (err error) {
	saw := map[fileKind]bool{policyFiles: sawPolicies || !sawCase, caseFiles: sawCase}
	o.flags.Visit(func(f *pflag.Flag) {
		for _, kind := range f.Annotations[fileKindKey] {
			if !saw[fileKind(kind)] {
				err = fmt.Errorf("--%s is about %s, and there is none: leave it out", f.Name, kind)
			}
		}
	})
	return err
}

func (o *sourceOptions) fromCases(all []cases.Case) ([]subject, error) {
	var out []subject
	var errs []error
	for _, c := range all {
		if !o.filter.matches(c) || c.ExpectError != "" {
			continue
		}
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		var among []policy.Inbound
		for _, in := range c.Inbounds {
			among = append(among, in.Inbound)
		}
		for _, in := range among {
			if o.to == "" || o.to == in.String() {
				out = append(out, subject{caseName: c.Name, inbound: in, set: set, among: among, normalization: c.Normalization})
			}
		}
	}
	return out, errors.Join(errs...)
}
