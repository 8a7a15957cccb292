package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/manifest"
)

// subject is one inbound with the policies that may apply to it.
type subject struct {
	title   string
	inbound policy.Inbound
	set     dialect.Set
	// normalization is that of the inbound's listener.
	normalization policy.PathNormalization
}

// sourceOptions are the flags that say which inbound policy files are about. In a
// case file the inbounds are stated.
type sourceOptions struct {
	inbound policy.Inbound
	port    uint16
	to      string
	name    string
}

func (o *sourceOptions) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	w := &o.inbound.Workload
	flags.StringVar(&w.Name, "workload", "backend", "policy files: name of the workload")
	flags.StringVar(&w.Namespace, "namespace", "default", "policy files: namespace of the workload")
	flags.StringVar(&w.Mesh, "mesh", "default", "policy files: mesh of the workload")
	flags.StringVar(&w.Zone, "zone", "", "policy files: zone of the workload")
	flags.StringToStringVar(&w.Labels, "label", nil, "policy files: label of the workload, as key=value; repeatable")
	flags.StringVar(&o.inbound.Name, "inbound", "", "policy files: name of the inbound")
	flags.Uint16Var(&o.port, "port", 8080, "policy files: port of the inbound")
	flags.Var(textFlag{&o.inbound.Protocol, "http|http2|grpc|tcp"}, "protocol", "policy files: protocol of the inbound")
	flags.StringVar(&o.to, "to", "", "case files: only this inbound, as workload/inbound")
	flags.StringVar(&o.name, "case", "", "case files: only the case of this name")
}

// subjects reads case files or policy files: a file whose first document has a
// case field is a case file.
func (o *sourceOptions) subjects(paths []string) ([]subject, error) {
	var policies []manifest.Document
	var out []subject
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		docs, err := manifest.Parse(path, data)
		if err != nil {
			return nil, err
		}
		if len(docs) > 0 {
			if _, isCase := docs[0].At("case"); !isCase {
				policies = append(policies, docs...)
				continue
			}
		}
		read, err := o.fromCases(path, data)
		if err != nil {
			return nil, err
		}
		out = append(out, read...)
	}
	if len(policies) > 0 || len(out) == 0 && o.name == "" && o.to == "" {
		o.inbound.Port = o.port
		set, err := dialect.Parse(policies, dialect.Options{})
		if err != nil {
			return nil, err
		}
		out = append(out, subject{title: o.inbound.String(), inbound: o.inbound, set: set})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no inbound is left: check --case and --to", strings.Join(paths, " "))
	}
	return out, nil
}

func (o *sourceOptions) fromCases(path string, data []byte) ([]subject, error) {
	all, err := cases.Parse(path, data)
	if err != nil {
		return nil, err
	}
	var out []subject
	var errs []error
	for _, c := range all {
		if o.name != "" && c.Name != o.name {
			continue
		}
		set, err := dialect.Parse(c.Policies, c.Options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, in := range c.Inbounds {
			if o.to == "" || o.to == in.String() {
				out = append(out, subject{
					title:   c.Name + ": " + in.String(),
					inbound: in.Inbound, set: set, normalization: c.Normalization,
				})
			}
		}
	}
	return out, errors.Join(errs...)
}
