package main

import (
	"cmp"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// lab is what files give to be proven.
type lab struct {
	// name is that of the paths.
	name string
	// cases are those of case files that can be asked about.
	cases []cases.Case
	// sawCase tells whether there is a case file, sawDataplane whether there is a
	// Dataplane.
	sawCase, sawDataplane bool
	policies              []manifest.Document
	dataplanes            []*dataplane.Dataplane
}

// labCases returns cases to be proven: those of case files, and of policy files one for
// each Dataplane among them, or for the inbound that the flags describe where there is
// none.
func (o *sourceOptions) labCases(paths []string) ([]cases.Case, error) {
	files, err := expand(paths)
	if err != nil {
		return nil, err
	}
	l, err := o.readLab(files, strings.Join(paths, " "))
	if err != nil {
		return nil, err
	}
	if err := o.checkLabFlags(l); err != nil {
		return nil, err
	}
	if l.empty() && o.inboundFlag() == "" {
		return nil, fmt.Errorf("%s: there is no policy, no Dataplane and no case: describe the inbound that nobody may call by flags, such as --workload and --port", l.name)
	}
	return o.casesOf(l, l.inbounds())
}

// casesOf are all cases of a lab, with those of its policies for these inbounds, or for
// the one that the flags describe.
func (o *sourceOptions) casesOf(l *lab, workloads [][]policy.Inbound) ([]cases.Case, error) {
	out := l.cases
	if l.loose() {
		own, err := o.policyCases(l, workloads)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, own)
	}
	switch {
	case len(out) > 0:
		return out, nil
	case o.flags.Changed("case") || o.flags.Changed("to"):
		return nil, fmt.Errorf("%s: no inbound is left: check --case and --to", l.name)
	default:
		return nil, fmt.Errorf("%s: there is nothing to ask: each case expects an error, or has no inbound", l.name)
	}
}

// readLab reads files. One without any document has no policy, and is no error.
func (o *sourceOptions) readLab(files []string, name string) (*lab, error) {
	l := &lab{name: name}
	written, err := withDocuments(files)
	if err != nil {
		return nil, err
	}
	docs, caseFiles, err := readFiles(written)
	if err != nil {
		return nil, err
	}
	l.sawCase = len(caseFiles) > 0
	for _, c := range slices.Concat(caseFiles...) {
		if o.filter.matches(c) && c.ExpectError == "" && len(c.Inbounds) > 0 {
			l.cases = append(l.cases, o.narrowed(c)...)
		}
	}
	for _, doc := range docs {
		if !dataplane.Owns(doc) {
			l.policies = append(l.policies, doc)
			continue
		}
		l.sawDataplane = true
		d, err := dataplane.Parse(doc)
		if err != nil {
			return nil, err
		}
		if len(d.Inbounds) > 0 {
			l.dataplanes = append(l.dataplanes, d)
		}
	}
	if l.sawDataplane && len(l.dataplanes) == 0 {
		return nil, fmt.Errorf("%s: no Dataplane has an inbound: add one that has, or leave the Dataplanes out and describe the inbound by flags", name)
	}
	return l, nil
}

// loose reports whether policies stand outside of a case, or nothing does: the empty set.
func (l *lab) loose() bool { return len(l.policies) > 0 || l.sawDataplane || !l.sawCase }

func (l *lab) empty() bool { return len(l.policies) == 0 && !l.sawDataplane && !l.sawCase }

// inbounds are those of the Dataplanes, by workload.
func (l *lab) inbounds() [][]policy.Inbound {
	var out [][]policy.Inbound
	for _, d := range l.dataplanes {
		out = append(out, d.Inbounds)
	}
	return out
}

// withDocuments leaves out the files in which nothing stands.
func withDocuments(files []string) ([]string, error) {
	var out []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		docs, err := manifest.Parse(file, data)
		if err != nil {
			return nil, err
		}
		if len(docs) > 0 {
			out = append(out, file)
		}
	}
	return out, nil
}

// checkLabFlags refuses a flag that none of the files heeds, where they are looked at
// together.
func (o *sourceOptions) checkLabFlags(labs ...*lab) error {
	loose := slices.ContainsFunc(labs, (*lab).loose)
	sawCase := slices.ContainsFunc(labs, func(l *lab) bool { return l.sawCase })
	if err := o.checkFlags(loose, sawCase); err != nil {
		return err
	}
	flag := o.inboundFlag()
	if flag != "" && slices.ContainsFunc(labs, func(l *lab) bool { return l.sawDataplane }) {
		return fmt.Errorf("--%s: the Dataplanes say what inbounds there are: leave it out", flag)
	}
	return nil
}

// inboundFlag is the first flag given that describes an inbound, "" where none is.
func (o *sourceOptions) inboundFlag() string {
	for _, name := range []string{"label", "port", "workload", "namespace", "mesh", "zone", "inbound", "protocol", "origin"} {
		if o.flags.Changed(name) {
			return name
		}
	}
	return ""
}

// expand replaces each folder by the YAML files in it.
func expand(paths []string) ([]string, error) {
	var out []string
	for _, path := range paths {
		files, err := labFiles(path)
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("%s: there is no .yaml file in this folder", path)
		}
		out = append(out, files...)
	}
	return out, nil
}

func labFiles(path string) ([]string, error) {
	files, err := manifest.Files(path)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file with policies or cases, or a folder with some", err)
	}
	return files, nil
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

func (o *sourceOptions) policyCases(l *lab, workloads [][]policy.Inbound) ([]cases.Case, error) {
	td := o.options.Gateway.TrustDomain
	if td.IsZero() {
		td = spiffeid.RequireTrustDomainFromString(cases.DefaultTrustDomain)
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
		c := cases.Case{Name: l.name, Place: l.name + ":1", TrustDomains: []spiffeid.TrustDomain{td}, Options: o.options, Policies: l.policies}
		c.Options.Gateway.TrustDomain = td
		w := inbounds[0].Workload
		if len(workloads) > 1 {
			c.Name = strings.Join(nonEmpty(l.name+":", w.Mesh, w.Zone, w.Namespace, w.Name), " ")
		}
		id, err := spiffeid.FromSegments(td, "ns", cmp.Or(w.Namespace, "default"), "sa", w.Name)
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
