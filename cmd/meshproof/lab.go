package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/dataplane"
	"github.com/meshproof/meshproof/policy/manifest"
)

// labCases returns cases to be proven: those of case files, and of policy files one for
// each Dataplane among them, or for the inbound that the flags describe where there is
// none.
func (o *sourceOptions) labCases(paths []string) ([]cases.Case, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	docs, caseFiles, err := readFiles(files)
	if err != nil {
		return nil, err
	}
	var out []cases.Case
	for _, c := range slices.Concat(caseFiles...) {
		if o.filter.matches(c) && c.ExpectError == "" && len(c.Inbounds) > 0 {
			out = append(out, o.narrowed(c)...)
		}
	}
	if err := o.checkFlags(len(docs) > 0, len(caseFiles) > 0); err != nil {
		return nil, err
	}
	if len(docs) > 0 || len(caseFiles) == 0 {
		own, err := o.policyCases(docs, strings.Join(paths, " "))
		if err != nil {
			return nil, err
		}
		out = append(out, own...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no inbound is left: check --case and --to", strings.Join(paths, " "))
	}
	return out, nil
}

// expand replaces each folder by the YAML files in it.
func expand(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		files, err := manifest.Files(path)
		if err != nil {
			return nil, fmt.Errorf("%w: name a file with policies or cases, or a folder with some", err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: there is no .yaml file in this folder", path)
		}
		out = append(out, files...)
	}
	return out, nil
}

// narrowed is the case with the inbound of --to alone, nothing where it has none.
func (o *sourceOptions) narrowed(c cases.Case) []cases.Case {
	if o.to == "" {
		return []cases.Case{c}
	}
	c.Inbounds = slices.DeleteFunc(slices.Clone(c.Inbounds), func(in cases.Inbound) bool { return in.String() != o.to })
	if len(c.Inbounds) == 0 {
		return nil
	}
	return []cases.Case{c}
}

func (o *sourceOptions) policyCases(docs []manifest.Document, name string) ([]cases.Case, error) {
	td := o.options.Gateway.TrustDomain
	if td.IsZero() {
		td = spiffeid.RequireTrustDomainFromString(cases.DefaultTrustDomain)
	}
	var policies []manifest.Document
	var workloads [][]policy.Inbound
	for _, doc := range docs {
		if !dataplane.Owns(doc) {
			policies = append(policies, doc)
			continue
		}
		d, err := dataplane.Parse(doc)
		if err != nil {
			return nil, err
		}
		if len(d.Inbounds) > 0 {
			workloads = append(workloads, d.Inbounds)
		}
	}
	if len(workloads) == 0 {
		in, err := o.flagged()
		if err != nil {
			return nil, err
		}
		workloads = [][]policy.Inbound{{in}}
	}
	var out []cases.Case
	for _, inbounds := range workloads {
		c := cases.Case{Name: name, Place: name + ":1", TrustDomains: []spiffeid.TrustDomain{td}, Options: o.options, Policies: policies}
		c.Options.Gateway.TrustDomain = td
		w := inbounds[0].Workload
		if len(workloads) > 1 {
			c.Name = strings.Join(nonEmpty(name+":", w.Mesh, w.Zone, w.Namespace, w.Name), " ")
		}
		id, err := spiffeid.FromSegments(td, "ns", orElse(w.Namespace, "default"), "sa", w.Name)
		if err != nil {
			return nil, fmt.Errorf("workload %q of namespace %q has no SPIFFE ID: %w", w.Name, w.Namespace, err)
		}
		for _, in := range inbounds {
			c.Inbounds = append(c.Inbounds, cases.Inbound{Inbound: in, Identity: id, IP: netip.AddrFrom4([4]byte{10, 64, 0, 1})})
		}
		out = append(out, c)
	}
	return out, nil
}

func nonEmpty(words ...string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return word == "" })
}
