package lab

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// Subject is one inbound with the policies that may apply to it.
type Subject struct {
	// Case names the case that the inbound is from; it is empty for policy files.
	Case    string
	Inbound cases.Inbound
	// TrustDomains are the trust domains that the inbound trusts.
	TrustDomains []spiffeid.TrustDomain
	// Callers are the callers with a name: of a case, those of its requests and its
	// workloads; of policy files, the Dataplanes.
	Callers []cases.Caller
	// Made says of the callers that were made for the policies who they are, by their SPIFFE IDs;
	// nil where none was made.
	Made map[string]string
	// Set has the policies.
	Set language.Policies
	// Warnings returns the warnings of lint about the policies, among all inbounds that they
	// are written for.
	Warnings func() []policy.Warning
	// Normalization is the path normalization of the inbound's listener.
	Normalization policy.PathNormalization
	// Assumed is true where neither files nor flags describe the inbound, and lint warns of policies
	// there: they may be about other inbounds.
	Assumed bool

	// expected are the warnings that the case expects.
	expected []string
}

// Assume marks the inbounds, which neither files nor flags describe, where lint warns of their policies.
// It tells about the first of them.
func Assume(told io.Writer, all []Subject) {
	if !slices.ContainsFunc(all, func(s Subject) bool { return len(s.Warnings()) > 0 }) {
		return
	}
	for i := range all {
		all[i].Assumed = true
	}
	fmt.Fprintf(told, "meshproof: note: %s is assumed: describe your inbound by --label, --namespace and --port, or choose by --to one that prove makes\n", all[0].Inbound)
}

// HasUnexpectedWarning reports whether lint warns of something that the case does not expect.
func (s Subject) HasUnexpectedWarning() bool {
	return slices.ContainsFunc(s.Warnings(), func(w policy.Warning) bool {
		return !slices.ContainsFunc(s.expected, func(text string) bool { return strings.Contains(w.String(), text) })
	})
}

// Title names the inbound, and its case where it has one.
func (s Subject) Title() string {
	title := fmt.Sprintf("%s (%s)", s.Inbound, s.Inbound.Protocol)
	if s.Case != "" {
		title = terminal.Printable(s.Case) + ": " + title
	}
	return title
}

// Subjects returns the chosen inbounds: of the cases, and of the policies outside of cases,
// whose inbounds are the Dataplanes, or else the one of the surroundings. A choice may also
// name an inbound that [Files.CasesInFull] makes. Its error joins the errors of all refused
// policies. A choice that names no inbound is a [*NoInboundError].
func (f *Files) Subjects(to string, s Surroundings) ([]Subject, error) {
	all, err := f.CasesFor(s, f.Inbounds())
	if err == nil && to != "" {
		all, _, err = f.CasesInFull(s)
	}
	if err != nil {
		return nil, err
	}
	var out []Subject
	var errs []error
	none := &NoInboundError{Name: to}
	add := func(set *subjectSet, c Case) {
		for _, in := range c.Inbounds {
			none.Inbounds = append(none.Inbounds, in.String())
			if to != "" && to != in.String() {
				continue
			}
			if err := set.policies.Check(in.Inbound); err != nil {
				errs = append(errs, err)
				continue
			}
			out = append(out, set.subject(c, in))
		}
	}
	// The policies outside of cases are read once for all Dataplanes.
	var generated []Case
	for _, c := range all {
		if c.Generated {
			generated = append(generated, c)
			continue
		}
		set, err := newSubjectSet(c)
		errs = append(errs, err)
		if err == nil {
			set.name = c.Name
			add(set, c)
		}
	}
	if len(generated) > 0 {
		set, err := newSubjectSet(generated...)
		errs = append(errs, err)
		for _, c := range generated {
			if err == nil {
				add(set, c)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		none.Described = f.describedBy(to)
		return nil, none
	}
	return out, nil
}

// subjectSet is what the subjects of one set of policies share.
type subjectSet struct {
	name     string
	policies language.Policies
	callers  []cases.Caller
	warnings func() []policy.Warning
}

// newSubjectSet reads the policies of cases that have the same policies.
func newSubjectSet(cs ...Case) (*subjectSet, error) {
	policies, err := dialect.Parse(cs[0].Policies, cs[0].Options)
	if err != nil {
		return nil, err
	}
	set := &subjectSet{policies: policies}
	var among []policy.Inbound
	for _, c := range cs {
		if c.Made == nil {
			set.callers = append(set.callers, callersOf(c.Case)...)
		}
		if c.LintScope == nil {
			c.LintScope = inboundsOf(c)
		}
		among = append(among, c.LintScope...)
	}
	set.warnings = sync.OnceValue(func() []policy.Warning { return verdict.Lint(policies, cs[0].Normalization, among) })
	return set, nil
}

func (s *subjectSet) subject(c Case, in cases.Inbound) Subject {
	var made map[string]string
	if c.Generated && c.Options.Peers != nil {
		made = map[string]string{}
		for _, peer := range c.Options.Peers {
			made[peer.Identity.String()] = DescribeCaller(peer)
		}
	}
	return Subject{
		Made: made, Case: s.name, Inbound: in, TrustDomains: c.TrustDomains, Callers: s.callers,
		Set: s.policies, Warnings: s.warnings, Normalization: c.Normalization, expected: c.ExpectWarnings,
	}
}

// callersOf returns the callers that a case names.
func callersOf(c cases.Case) []cases.Caller {
	var out []cases.Caller
	add := func(caller cases.Caller) {
		if !slices.ContainsFunc(out, func(known cases.Caller) bool { return known.Name == caller.Name }) {
			out = append(out, caller)
		}
	}
	for _, q := range c.Requests {
		add(q.From)
	}
	addWorkload := func(name string, id spiffeid.ID) {
		add(cases.Caller{Name: name, Template: certs.Template{URIs: []string{id.String()}}, SignedBy: id.TrustDomain()})
	}
	for _, in := range c.Inbounds {
		addWorkload(in.Workload.Name, in.Identity)
	}
	for _, peer := range c.Options.Peers {
		addWorkload(peer.Workload.Name, peer.Identity)
	}
	return out
}
