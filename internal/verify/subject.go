package verify

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
)

// subject is one inbound of the policies.
type subject struct {
	source  *source
	inbound cases.Inbound
	// anyPort is true where flags describe the workload and name no port: the workload
	// has every port of the sidecar.
	anyPort bool
	// addresses are the listener's addresses that Dataplanes state, if any does.
	addresses []netip.Addr
	// machine are those that Dataplanes state for the machine as a whole, and hostNames are the names in their place.
	machine   []netip.Addr
	hostNames []string
	// named is set where a Dataplane states a name for the address, or nothing.
	named bool
	// redirectsOutAlone and redirectsIPv4Alone are set where a Dataplane states that not all connections of others are redirected.
	redirectsOutAlone, redirectsIPv4Alone bool
	// workloads are the places of the workload that Dataplanes state.
	workloads []netip.AddrPort
	// dataplane is the name of its Dataplane, empty where there is none.
	dataplane string
	// claimed is true once the sidecar has an inbound for it, atHome once it has one that gets the connections
	// to the address of the Dataplane. astray are the others.
	claimed, atHome bool
	astray          []Finding
}

// subjectsOf returns the inbounds of cases that were made of files.
func subjectsOf(all []lab.Case, files *lab.Files, portNamed bool) []*subject {
	anyPort := !files.HasCases && !files.HasDataplanes && !portNamed
	stated := map[kri.KRI]subject{}
	for _, d := range files.Dataplanes {
		for i, in := range d.Inbounds {
			s := stated[kri.Inbound(in)]
			s.dataplane = d.Name
			s.redirectsOutAlone, s.redirectsIPv4Alone = s.redirectsOutAlone || d.RedirectsOutAlone, s.redirectsIPv4Alone || d.RedirectsIPv4Alone
			s.workloads = append(s.workloads, d.Workloads[i])
			s.hostNames = append(s.hostNames, d.HostNames...)
			for _, address := range d.Machine {
				s.machine = append(s.machine, address.Unmap())
			}
			if address := d.Addresses[i]; address.IsValid() {
				s.addresses = append(s.addresses, address.Unmap())
			} else {
				s.named = true
			}
			stated[kri.Inbound(in)] = s
		}
	}
	var out []*subject
	for _, c := range all {
		source := newSource(c, c.Generated && !files.HasDataplanes)
		for _, in := range c.Inbounds {
			var s subject
			if c.Generated {
				s = stated[kri.Inbound(in.Inbound)]
			}
			s.source, s.inbound, s.anyPort = source, in, anyPort
			out = append(out, &s)
		}
	}
	return out
}

// mayBe reports whether a sidecar's inbound may be the subject's. The port tells, or the
// name that compile gives to filters.
func (s *subject) mayBe(enforced sidecar.Inbound) bool {
	switch {
	case s.anyPort:
		return true
	case !enforced.Address.IsValid():
		return enforced.Chain == s.inbound.String()
	default:
		return enforced.Address.Port() == s.inbound.Port
	}
}

// hasAddress reports whether a Dataplane states this address of the inbound.
func (s *subject) hasAddress(address netip.Addr) bool {
	return slices.Contains(s.addresses, address.Unmap())
}

// name tells inbounds apart whose workloads have the same name.
func (s *subject) name() string {
	if s.inbound.Workload.Namespace == "" {
		return s.inbound.String()
	}
	return fmt.Sprintf("%s of namespace %s", s.inbound, s.inbound.Workload.Namespace)
}

// workload identifies the workload of the subject.
func (s *subject) workload() kri.KRI {
	id := kri.Inbound(s.inbound.Inbound)
	id.Section = ""
	return id
}

// partElsewhere separates the inbounds of other Dataplanes from the rest: the sidecar
// listens on an address of one Dataplane, and on no address of the others.
func partElsewhere(subjects []*subject, found sidecar.Sidecar) (here, elsewhere []*subject) {
	own := map[kri.KRI]bool{}
	for _, s := range subjects {
		for _, enforced := range found.Inbounds {
			if s.hasAddress(enforced.Address.Addr()) {
				own[s.workload()] = true
			}
		}
	}
	for _, s := range subjects {
		if len(own) > 0 && len(s.addresses) > 0 && !own[s.workload()] {
			elsewhere = append(elsewhere, s)
		} else {
			here = append(here, s)
		}
	}
	return here, elsewhere
}

// isChosen reports whether the inbound has the name, which is empty for all inbounds.
func (s *subject) isChosen(to string) bool { return to == "" || s.inbound.String() == to }

// claimant returns the subject of a sidecar's inbound, nil if there is none. Several
// possible subjects are an error, unless one of them is chosen.
func claimant(subjects []*subject, to string, enforced sidecar.Inbound) (*subject, error) {
	var may, exact []*subject
	for _, s := range subjects {
		if !s.mayBe(enforced) {
			continue
		}
		may = append(may, s)
		if s.hasAddress(enforced.Address.Addr()) {
			exact = append(exact, s)
		}
	}
	if len(exact) == 1 {
		return exact[0], nil
	}
	if slices.ContainsFunc(may, func(s *subject) bool { return s.isChosen(to) }) {
		may = slices.DeleteFunc(may, func(s *subject) bool { return !s.isChosen(to) })
	}
	switch {
	case len(may) == 0:
		return nil, nil
	case len(may) == 1, !may[0].isChosen(to):
		return may[0], nil
	}
	var names []string
	only := "a folder with the Dataplane of this sidecar alone"
	for _, s := range may {
		names = append(names, s.name())
		if !s.source.Generated {
			only = "--case and --to workload/inbound"
		}
	}
	return nil, fmt.Errorf("%s: several inbounds may be meant, %s: choose one by %s", title(enforced), strings.Join(names, ", "), only)
}
