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

// subject is one inbound that policies are about.
type subject struct {
	of lab.Case
	in cases.Inbound
	// anyPort is true where flags describe the workload and name no port: it has whatever
	// ports the sidecar has.
	anyPort bool
	// addresses are those that Dataplanes state of its listener, none where none does.
	addresses []netip.Addr
	// claimed is true once the sidecar has an inbound for it.
	claimed bool
}

// subjectsOf returns the inbounds of cases that were made of files.
func subjectsOf(all []lab.Case, files *lab.Files, portNamed bool) []*subject {
	anyPort := !files.HasCases && !files.HasDataplanes && !portNamed
	addresses := map[kri.KRI][]netip.Addr{}
	for _, d := range files.Dataplanes {
		for i, in := range d.Inbounds {
			if address := d.Addresses[i]; address.IsValid() {
				addresses[kri.Inbound(in)] = append(addresses[kri.Inbound(in)], address.Unmap())
			}
		}
	}
	var out []*subject
	for _, c := range all {
		for _, in := range c.Inbounds {
			s := &subject{of: c, in: in, anyPort: anyPort}
			if c.Generated {
				s.addresses = addresses[kri.Inbound(in.Inbound)]
			}
			out = append(out, s)
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
		return enforced.Chain == s.in.String()
	default:
		return enforced.Address.Port() == s.in.Port
	}
}

// hasAddress reports whether a Dataplane states this address of the inbound.
func (s *subject) hasAddress(address netip.Addr) bool {
	return slices.Contains(s.addresses, address.Unmap())
}

// name tells inbounds apart whose workloads have the same name.
func (s *subject) name() string {
	if s.in.Workload.Namespace == "" {
		return s.in.String()
	}
	return fmt.Sprintf("%s of namespace %s", s.in, s.in.Workload.Namespace)
}

// workload identifies the workload of the subject.
func (s *subject) workload() kri.KRI {
	id := kri.Inbound(s.in.Inbound)
	id.Section = ""
	return id
}

// partElsewhere parts the inbounds of other Dataplanes from the rest: the sidecar listens
// on an address of some Dataplane, and on no address of theirs.
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

// claimant returns the subject that a sidecar's inbound is for, nil where there is none.
// Several that may be meant are an error.
func claimant(subjects []*subject, enforced sidecar.Inbound) (*subject, error) {
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
	switch {
	case len(exact) == 1:
		return exact[0], nil
	case len(may) == 0:
		return nil, nil
	case len(may) == 1:
		return may[0], nil
	}
	var names []string
	only := "a folder with the Dataplane of this sidecar alone"
	for _, s := range may {
		names = append(names, s.name())
		if !s.of.Generated {
			only = "--case and --to workload/inbound"
		}
	}
	return nil, fmt.Errorf("%s: several inbounds may be meant, %s: choose one by %s", title(enforced), strings.Join(names, ", "), only)
}

// title names a sidecar's inbound by its listener. A folder may have filters without a
// listener.
func title(enforced sidecar.Inbound) string {
	if !enforced.Address.IsValid() {
		return "filters of " + enforced.Listener
	}
	return fmt.Sprintf("listener %s (%s)", enforced.Listener, enforced.Address)
}
