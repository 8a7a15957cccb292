package main

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/policy"
)

// verifySubject is one inbound that policies are about.
type verifySubject struct {
	c  lab.Case
	in cases.Inbound
	// described is set where it is the flags that describe the workload, and no port was
	// named: it has whatever ports the sidecar has.
	described bool
	// addresses are those that Dataplanes state of its listener, none where none does.
	addresses []netip.Addr
	// claimed is set once the sidecar has an inbound for it.
	claimed bool
}

// verifySubjects are the inbounds of cases that were made of files.
func verifySubjects(of []lab.Case, files *lab.Files, portNamed bool) []*verifySubject {
	described := !files.HasCases && !files.HasDataplanes && !portNamed
	addresses := map[kri.KRI][]netip.Addr{}
	for _, d := range files.Dataplanes {
		for i, in := range d.Inbounds {
			if address := d.Addresses[i]; address.IsValid() {
				addresses[kri.Inbound(in)] = append(addresses[kri.Inbound(in)], address.Unmap())
			}
		}
	}
	var out []*verifySubject
	for _, c := range of {
		for _, in := range c.Inbounds {
			s := &verifySubject{c: c, in: in, described: described}
			if c.Generated {
				s.addresses = addresses[kri.Inbound(in.Inbound)]
			}
			out = append(out, s)
		}
	}
	return out
}

// isOf reports whether what a sidecar enforces may be for the inbound: the port tells, or
// the name that compile gives to filters.
func (s *verifySubject) isOf(enforced sidecar.Inbound) bool {
	switch {
	case s.described:
		return true
	case !enforced.Address.IsValid():
		return enforced.Chain == s.in.String()
	default:
		return enforced.Address.Port() == s.in.Port
	}
}

// at reports whether a Dataplane states this address of the inbound.
func (s *verifySubject) at(address netip.Addr) bool {
	return slices.Contains(s.addresses, address.Unmap())
}

// elsewhere tells the inbounds of Dataplanes that the sidecar is not of: it listens on the
// address of another Dataplane, and on none of theirs.
func elsewhere(subjects []*verifySubject, found sidecar.Sidecar) func(*verifySubject) bool {
	of := func(s *verifySubject) kri.KRI {
		id := kri.Inbound(s.in.Inbound)
		id.Section = ""
		return id
	}
	here := map[kri.KRI]bool{}
	for _, s := range subjects {
		for _, enforced := range found.Inbounds {
			if s.at(enforced.Address.Addr()) {
				here[of(s)] = true
			}
		}
	}
	return func(s *verifySubject) bool {
		return len(here) > 0 && len(s.addresses) > 0 && !here[of(s)]
	}
}

// claimant is the inbound that what a sidecar enforces is for, nil where there is none.
// It is an error where several may be.
func claimant(subjects []*verifySubject, enforced sidecar.Inbound) (*verifySubject, error) {
	var may, at []*verifySubject
	for _, s := range subjects {
		if !s.isOf(enforced) {
			continue
		}
		may = append(may, s)
		if s.at(enforced.Address.Addr()) {
			at = append(at, s)
		}
	}
	switch {
	case len(at) == 1:
		return at[0], nil
	case len(may) == 0:
		return nil, nil
	case len(may) == 1:
		return may[0], nil
	}
	var names []string
	only := "a folder with the Dataplane of this sidecar alone"
	for _, s := range may {
		names = append(names, verifyName(s.in.Inbound))
		if !s.c.Generated {
			only = "--case and --to workload/inbound"
		}
	}
	return nil, fmt.Errorf("%s: several inbounds may be meant, %s: choose one by %s", enforcedTitle(enforced), strings.Join(names, ", "), only)
}

// verifyName tells inbounds of workloads apart that have the same name.
func verifyName(in policy.Inbound) string {
	if in.Workload.Namespace == "" {
		return in.String()
	}
	return fmt.Sprintf("%s of namespace %s", in, in.Workload.Namespace)
}

// enforcedTitle names what a sidecar enforces by its listener; a folder may have filters
// without one around them.
func enforcedTitle(enforced sidecar.Inbound) string {
	if !enforced.Address.IsValid() {
		return "filters of " + enforced.Listener
	}
	return fmt.Sprintf("listener %s (%s)", enforced.Listener, enforced.Address)
}
