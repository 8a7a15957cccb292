package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/policy/language"
)

// Case is a case, and where it comes from.
type Case struct {
	cases.Case
	// Generated is true for a case that was made of policy files.
	Generated bool
	// Made says of each inbound why it was made; nil where the inbounds are described.
	Made []Made
	// LintScope are the inbounds that the warnings of lint are about; nil for those of the case.
	LintScope []policy.Inbound
}

// Surroundings are the facts that policy files do not state.
type Surroundings struct {
	// Inbound is the inbound of the policies if there is no Dataplane.
	Inbound policy.Inbound
	Options language.Options
	// callers are nil until they are made, see [Surroundings.WithCallers].
	callers *Callers
}

// NewSurroundings returns the surroundings of an inbound. One of a zone has the origin zone where it
// states none; an error says that its origin is unknown.
func NewSurroundings(in policy.Inbound, options language.Options) (Surroundings, error) {
	switch w := &in.Workload; {
	case !slices.Contains([]string{"", "global", "zone"}, w.Origin):
		return Surroundings{}, fmt.Errorf("%q is unknown: use global or zone", w.Origin)
	case w.Origin == "" && w.Zone != "":
		w.Origin = "zone"
	}
	return Surroundings{Inbound: in, Options: options}, nil
}

// WithCallers returns the surroundings with these made callers.
func (s Surroundings) WithCallers(made Callers) Surroundings {
	s.callers, s.Options.Peers = &made, made.Peers
	return s
}

// withCallers makes the callers of the policies. Where they are refused there is none: the error is
// told where they are read for an inbound.
func (f *Files) withCallers(s Surroundings) Surroundings {
	if s.callers != nil {
		return s
	}
	set, err := dialect.Parse(f.Policies, f.options(s))
	if err != nil {
		return s
	}
	return s.WithCallers(MakeCallers(s.Options.TrustDomain, set))
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
	s = f.withCallers(s)
	if len(workloads) == 0 {
		workloads = [][]policy.Inbound{{s.Inbound}}
	}
	var out []Case
	for _, inbounds := range workloads {
		name := f.Name
		if w := inbounds[0].Workload; len(workloads) > 1 {
			words := []string{f.Name + ":", w.Mesh, w.Zone, w.Namespace, w.Name}
			name = strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
		}
		c, err := f.newCase(s, name, inbounds)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	// The policies are one set, and its warnings are told once.
	for i := range out {
		out[i].LintScope = []policy.Inbound{}
	}
	out[0].LintScope = slices.Concat(workloads...)
	return out, nil
}

// newCase makes a case of the policies. Each workload has an address of its own.
func (f *Files) newCase(s Surroundings, name string, inbounds []policy.Inbound) (Case, error) {
	td := s.trustDomain()
	c := cases.Case{Name: name, Place: f.Name + ":1", TrustDomains: []spiffeid.TrustDomain{td}, Options: f.options(s), Policies: f.Policies}
	c.Options.TrustDomain = td
	addresses := addressesOf(inbounds)
	for _, in := range inbounds {
		w := in.Workload
		id, err := identityOf(td, w)
		if err != nil {
			return Case{}, err
		}
		c.Inbounds = append(c.Inbounds, cases.Inbound{Inbound: in, Identity: id, IP: addresses[workloadKey{w.Namespace, w.Name}]})
	}
	takeDefaults(&c)
	return Case{Case: c, Generated: true}, nil
}

type workloadKey struct{ namespace, name string }

// addressesOf returns the address of each workload: its own, or one that no other has.
func addressesOf(inbounds []policy.Inbound) map[workloadKey]netip.Addr {
	out, taken := map[workloadKey]netip.Addr{}, map[netip.Addr]bool{}
	for _, in := range inbounds {
		if w := in.Workload; w.IP.IsValid() {
			out[workloadKey{w.Namespace, w.Name}], taken[w.IP] = w.IP, true
		}
	}
	next := netip.AddrFrom4([4]byte{10, 64, 0, 1})
	for _, in := range inbounds {
		key := workloadKey{in.Workload.Namespace, in.Workload.Name}
		if out[key].IsValid() {
			continue
		}
		for taken[next] {
			next = next.Next()
		}
		out[key], taken[next] = next, true
	}
	return out
}

// takeDefaults gives the inbounds the mTLS mode that the mesh of the policies has where nothing states one,
// and the entries of x-forwarded-for that its sidecars trust. Policies that are refused are refused where they are read.
func takeDefaults(c *cases.Case) {
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return
	}
	hops := 0
	if forwarder, ok := set.(capability.Forwarder); ok {
		hops = forwarder.TrustedHops()
	}
	for i, in := range c.Inbounds {
		if program := set.Program(in.Inbound); program.MTLS == mtls.Unset {
			c.Inbounds[i].MTLS = program.DefaultMTLS
		}
		if in.Protocol.Layer() == policy.L7 {
			c.Inbounds[i].TrustedHops = hops
		}
	}
}

// mostInbounds is how many made inbounds are in one case. Envoy takes a few at a time faster
// than all at once, and several cases run at once.
const mostInbounds = 32

// MadeCases returns cases of the policies for the inbounds that were made. Two inbounds of
// one name, with one address, or of different layers, are in different cases.
func (f *Files) MadeCases(s Surroundings, made []Made) ([]Case, error) {
	s = f.withCallers(s)
	var groups [][]Made
	fits := func(group []Made, m Made) bool {
		return len(group) < mostInbounds && group[0].Protocol.Layer() == m.Protocol.Layer() && !slices.ContainsFunc(group, func(other Made) bool {
			return other.Workload.Name == m.Workload.Name || m.Workload.IP.IsValid() && other.Workload.IP == m.Workload.IP
		})
	}
	for _, m := range made {
		i := slices.IndexFunc(groups, func(group []Made) bool { return fits(group, m) })
		if i < 0 {
			i, groups = len(groups), append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	var out []Case
	for i, group := range groups {
		name := f.Name + ": made inbounds"
		if len(groups) > 1 {
			name = fmt.Sprintf("%s, part %d of %d", name, i+1, len(groups))
		}
		inbounds := make([]policy.Inbound, len(group))
		for k, m := range group {
			inbounds[k] = m.Inbound
		}
		c, err := f.newCase(s, name, inbounds)
		if err != nil {
			return nil, err
		}
		c.Made, c.LintScope = group, []policy.Inbound{}
		out = append(out, c)
	}
	return out, nil
}

// CasesInFull returns the cases of [Files.CasesFor] for the Dataplanes, and cases for the
// inbounds that are made for policies which select none of the described inbounds.
func (f *Files) CasesInFull(s Surroundings) ([]Case, Population, error) {
	if f.OnlyRouting() {
		return nil, Population{LeftOut: f.leftOut()}, nil
	}
	all, err := f.CasesFor(s, f.Inbounds())
	if err != nil || !f.HasPolicySet() {
		return all, Population{LeftOut: f.leftOut(), Warnings: f.openings()}, err
	}
	s = f.withCallers(s)
	set, err := f.PolicySet(s)
	if err != nil {
		return nil, Population{}, err
	}
	population := Populate(s.Inbound, set)
	population.add(*s.callers)
	population.Unasked = append(population.Unasked, f.SharedListeners(set.Policies)...)
	population.LeftOut, population.Warnings = f.leftOut(), f.openings()
	made, err := f.MadeCases(s, population.Made)
	first := slices.IndexFunc(all, func(c Case) bool { return c.Generated })
	if len(set.Described) == 0 {
		for _, m := range population.Made {
			all[first].LintScope = append(all[first].LintScope, m.Inbound)
		}
	}
	if population.Assumed != "" {
		// Those that were made for the policies are what the reader looks for.
		return slices.Concat(all[:first], made, all[first:]), population, err
	}
	return append(all, made...), population, err
}

// openings names the Dataplanes whose sidecars take requests on further ports, where no policy judges them.
func (f *Files) openings() (out []string) {
	for _, d := range f.described {
		if d.Opens != "" {
			out = append(out, fmt.Sprintf("%s: %s: its sidecar takes requests on further ports, which no policy judges and the lab does not play (%s)", d.Place, d.ID(), d.Opens))
		}
	}
	return out
}

// PolicySet reads the policies outside of cases, for [Populate].
func (f *Files) PolicySet(s Surroundings) (PolicySet, error) {
	set, err := dialect.Parse(f.Policies, f.options(s))
	if err != nil {
		return PolicySet{}, err
	}
	out := PolicySet{Policies: set, Described: slices.Concat(f.Inbounds()...)}
	// Flags that describe what a policy can select describe an inbound.
	if w := s.Inbound.Workload; len(out.Described) == 0 && (len(w.Labels) > 0 || s.Inbound.Name != "") {
		out.Described, out.Chosen = []policy.Inbound{s.Inbound}, true
	}
	return out, nil
}

// ReadAll reads the policies of cases, but for those that expect an error.
func ReadAll(all []Case) (out []*verdict.Reading, err error) {
	for _, c := range all {
		if c.ExpectError == "" {
			reading, refused := verdict.Read(c.Case)
			out, err = append(out, reading), errors.Join(err, refused)
		}
	}
	return out, err
}
