package lab

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// Case is a case, and where it comes from.
type Case struct {
	cases.Case
	// Generated is true for a case that was made of policy files.
	Generated bool
}

// Surroundings are the facts that policy files do not state.
type Surroundings struct {
	// Inbound is the inbound of the policies if there is no Dataplane.
	Inbound policy.Inbound
	Options language.Options
}

// NothingError says that the files have no case to ask about.
type NothingError struct{ Files string }

// Error names the files.
func (e *NothingError) Error() string {
	return e.Files + ": there is nothing to ask: each case expects an error, or has no inbound"
}

// CasesFor returns the chosen cases, and then the cases that it makes of the policies: one
// for each workload, or one for the inbound of the surroundings if there is no workload.
// Without any case the error is a [*NothingError].
func (f *Files) CasesFor(s Surroundings, workloads [][]policy.Inbound) ([]Case, error) {
	var out []Case
	for _, c := range f.Cases {
		out = append(out, Case{Case: c})
	}
	if f.HasPolicySet() {
		made, err := f.generate(s, workloads)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	if len(out) == 0 {
		return nil, &NothingError{f.Name}
	}
	return out, nil
}

// generate makes a case of the policies for each workload.
func (f *Files) generate(s Surroundings, workloads [][]policy.Inbound) ([]Case, error) {
	td := s.Options.TrustDomain
	if td.IsZero() {
		td = spiffeid.RequireTrustDomainFromString(casefile.DefaultTrustDomain)
	}
	if len(workloads) == 0 {
		workloads = [][]policy.Inbound{{s.Inbound}}
	}
	var out []Case
	for _, inbounds := range workloads {
		c := cases.Case{Name: f.Name, Place: f.Name + ":1", TrustDomains: []spiffeid.TrustDomain{td}, Options: s.Options, Policies: f.Policies}
		c.Options.TrustDomain = td
		w := inbounds[0].Workload
		if len(workloads) > 1 {
			words := []string{f.Name + ":", w.Mesh, w.Zone, w.Namespace, w.Name}
			c.Name = strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
		}
		id, err := spiffeid.FromSegments(td, "ns", cmp.Or(w.Namespace, "default"), "sa", w.Name)
		if err != nil {
			return nil, fmt.Errorf("workload %q of namespace %q has no SPIFFE ID: %w", w.Name, w.Namespace, err)
		}
		for _, in := range inbounds {
			c.Inbounds = append(c.Inbounds, cases.Inbound{Inbound: in, Identity: id, IP: netip.AddrFrom4([4]byte{10, 64, 0, 1})})
		}
		out = append(out, Case{Case: c, Generated: true})
	}
	return out, nil
}

// Subject is one inbound with the policies that may apply to it.
type Subject struct {
	// Case names the case that the inbound is from; it is empty for policy files.
	Case    string
	Inbound policy.Inbound
	// Set has the policies, Among all inbounds that they are written for.
	Set   language.Policies
	Among []policy.Inbound
	// Normalization is the path normalization of the inbound's listener.
	Normalization policy.PathNormalization
}

// Title names the inbound, and its case where it has one.
func (s Subject) Title() string {
	title := fmt.Sprintf("%s (%s)", s.Inbound, s.Inbound.Protocol)
	if s.Case != "" {
		title = terminal.Printable(s.Case) + ": " + title
	}
	return title
}

// Warnings returns the warnings of lint about the policies.
func (s Subject) Warnings() []policy.Warning { return s.Set.Lint(s.Among) }

// Subjects returns the chosen inbounds of the cases. Its error joins the errors of all
// refused policies.
func (f *Files) Subjects(choice Choice) ([]Subject, error) {
	var out []Subject
	var errs []error
	for _, c := range f.Cases {
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
			if choice.To == "" || choice.To == in.String() {
				out = append(out, Subject{Case: c.Name, Inbound: in, Set: set, Among: among, Normalization: c.Normalization})
			}
		}
	}
	return out, errors.Join(errs...)
}

// Subject returns the inbound of the surroundings, with the policies outside of cases.
func (f *Files) Subject(s Surroundings) (Subject, error) {
	set, err := dialect.Parse(f.Policies, s.Options)
	return Subject{Inbound: s.Inbound, Set: set, Among: []policy.Inbound{s.Inbound}}, err
}
