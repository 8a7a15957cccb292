package lab

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
)

// Case is a case, and where it comes from.
type Case struct {
	cases.Case
	// Generated is true for a case that was made of policy files.
	Generated bool
}

// Surroundings are what policy files do not say themselves.
type Surroundings struct {
	// Inbound is what the policies are about where there is no Dataplane.
	Inbound policy.Inbound
	Options language.Options
}

// NothingError says that no case is left of files.
type NothingError struct{ Files string }

// Error names the files.
func (e *NothingError) Error() string {
	return e.Files + ": there is nothing to ask: each case expects an error, or has no inbound"
}

// CasesFor returns the chosen cases, and behind them the cases that are made of the
// policies: one for each workload, or one for the inbound of the surroundings where no
// workload is given. Its error is a [*NothingError] where there is none.
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
