package verify

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/token"
)

// Match matches the inbounds of the sidecar with those of the cases, by the addresses of
// Dataplanes and by ports, and plans a proof for each pair. portNamed is true where flags
// name the port of the inbound. With to, only the inbounds of that name are proven. It fails
// where several inbounds may be meant, where none has the name, where policies are refused,
// and where inbounds differ in more ways than can be proven in a minute. The keys are those of
// issuers whose keys the policies name by a URI.
func Match(ctx context.Context, all []lab.Case, files *lab.Files, portNamed bool, to string, keys token.Keys, found sidecar.Sidecar) (*Verification, error) {
	v, replays, err := pair(ctx, all, files, portNamed, to, keys, found)
	if err != nil {
		return nil, err
	}
	return v, v.plan(ctx, replays)
}

// pair does what [Match] does, without the plans: it returns the groups of inbounds that have a proof each.
func pair(ctx context.Context, all []lab.Case, files *lab.Files, portNamed bool, to string, keys token.Keys, found sidecar.Sidecar) (*Verification, []*group, error) {
	if _, err := lab.Choose(all, to); err != nil {
		return nil, nil, err
	}
	pod, illegible := podAddresses(found.Nodes)
	v := &Verification{sidecar: found, pod: pod}
	replays := groups{keys: keys}
	subjects := subjectsOf(all, files, portNamed || to != "")
	for _, s := range subjects {
		if s.source.Generated && !s.anyPort {
			v.described = append(v.described, s.inbound.Inbound)
		}
	}
	here, elsewhere := partElsewhere(subjects, found)
	found = found.WithAddresses(machineOf(here))
	v.sidecar = found
	for _, s := range elsewhere {
		v.leftOut = append(v.leftOut, fmt.Sprintf("%s: the sidecar belongs to another Dataplane: it does not listen on %s", s.name(), s.addresses[0]))
	}
	of := found.Index()
	for _, enforced := range found.Inbounds {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		if found.IsDump && !enforced.Address.IsValid() {
			const reason = "it has no listener with an address, and the dump beside it says which listeners the sidecar has: filters without a listener prove nothing there, take them out of the folder"
			v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: title(enforced), Reasons: []string{reason}})
			continue
		}
		if enforced.PassesOn && haveDataplanes(here) {
			v.passOn(enforced, of(enforced), here, found)
			continue
		}
		s, err := claimant(here, to, enforced)
		if err != nil {
			return nil, nil, err
		}
		if s != nil && !s.isChosen(to) {
			v.leftOut = append(v.leftOut, fmt.Sprintf("%s: it is %s, and %s was chosen", title(enforced), s.name(), to))
			if past := otherJudges(slices.DeleteFunc(of(enforced), mayNotLead)); len(past) > 0 {
				v.Unverified = append(v.Unverified, Unverified{Gap: OtherJudges, Inbound: title(enforced), Reasons: past})
			}
			continue
		}
		if s == nil {
			v.Unverified = append(v.Unverified, Unverified{Gap: NoPolicies, Inbound: title(enforced), Filters: !enforced.Address.IsValid()})
			continue
		}
		s.claimed = true
		each, err := s.onPorts(enforced, found)
		if err != nil {
			return nil, nil, err
		}
		for _, one := range each {
			if err := v.claim(s, one, of(enforced), &replays); err != nil {
				return nil, nil, err
			}
		}
	}
	for _, s := range here {
		if s.claimed && s.isChosen(to) {
			for _, reason := range s.otherNodes(found.Nodes) {
				v.Unverified = append(v.Unverified, Unverified{Gap: OtherWorkload, Inbound: s.inbound.String(), Reasons: []string{reason}})
			}
		}
		switch {
		case !s.isChosen(to):
		case !s.claimed:
			v.Unverified = append(v.Unverified, Unverified{Gap: NoListener, Inbound: s.inbound.String(), Port: s.inbound.Port})
		default:
			v.goHome(s)
		}
	}
	if found.IsDump && len(found.Nodes) == 0 {
		const reason = "the dump has no bootstrap, which holds static listeners, runtime keys and the admin interface: take the whole answer to /config_dump"
		v.Unverified = append(v.Unverified, Unverified{Gap: OtherJudges, Inbound: "the sidecar", Reasons: []string{reason}})
	}
	for _, reason := range illegible {
		v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: "the sidecar", Reasons: []string{reason}})
	}
	for _, node := range found.Nodes {
		if past := passedBy(node); len(past) > 0 {
			v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: "the sidecar", Reasons: past})
		}
	}
	for _, u := range found.Unplaced() {
		v.Unverified = append(v.Unverified, Unverified{Gap: OtherJudges, Inbound: "the sidecar", Reasons: []string{u.String()}})
	}
	return v, replays.list, nil
}

// claim takes a sidecar's inbound among the replays, and notes findings and gaps. Unknown is
// what was not understood about it.
func (v *Verification) claim(s *subject, enforced sidecar.Inbound, unknown []dump.Unknown, replays *groups) error {
	name, hasAddress := title(enforced), enforced.Address.IsValid()
	if enforced.Incomplete {
		v.Unverified = append(v.Unverified, Unverified{Gap: NotReplayable, Inbound: name})
		return nil
	}
	in := s.inbound
	if s.anyPort && hasAddress {
		in.Port = enforced.Address.Port()
	}
	if wanted := in; wanted.Protocol.Layer() != enforced.Protocol.Layer() {
		in.Protocol = enforced.Protocol
		f := Finding{Fact: OtherProtocol, Inbound: name, Found: in.Protocol, Wanted: wanted.Protocol}
		alike, err := s.source.decidesAlike(wanted, in, enforced)
		switch {
		case err != nil:
			return err
		case s.anyPort:
			// The flags describe the workload, and say nothing of its inbounds.
		case alike:
			v.Findings = append(v.Findings, f)
		default:
			v.Unverified = append(v.Unverified, f.contradicts("the policies decide otherwise there"))
		}
	}
	s.take(enforced, name)
	if hasAddress && len(s.addresses) == 0 {
		for _, reason := range untaken(enforced, v.pod, v.sidecar) {
			v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: name, Reasons: []string{reason}})
		}
	}
	if reason := unredirected(enforced, v.sidecar.Nodes); reason != "" {
		v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: name, Reasons: []string{reason}})
	}
	if enforced.Unguarded() {
		v.Findings = append(v.Findings, Finding{Fact: Unguarded, Inbound: name})
	}
	other, err := s.unstatedLabels(in, enforced, v.sidecar.Nodes)
	if err != nil {
		return err
	}
	if other != "" {
		v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: name, Reasons: []string{other}})
	}
	meant, err := s.source.takesPlaintext(in, enforced)
	if err != nil {
		return err
	}
	if enforced.Transport != sidecar.MutualTLS && hasAddress && !(meant && enforced.Transport == sidecar.Plaintext) {
		v.Unverified = append(v.Unverified, Unverified{Gap: WeakTransport, Inbound: name, Transport: enforced.Transport})
	}
	if hasAddress {
		for _, reason := range s.strayEndpoints(enforced, v.sidecar) {
			v.Unverified = append(v.Unverified, Unverified{Gap: Contradicted, Inbound: name, Reasons: []string{reason}})
		}
	}
	if judges := otherJudges(unknown); len(judges) > 0 {
		v.Unverified = append(v.Unverified, Unverified{Gap: OtherJudges, Inbound: name, Reasons: judges})
	}
	return replays.add(s.source, in, enforced)
}

// mayNotLead reports whether what is told of an inbound leads to no workload of another one. What is about the whole dump is told
// with the other one.
func mayNotLead(u dump.Unknown) bool { return u.Idle || u.Listener == "" && u.Chain == "" }

// otherJudges returns what decides about requests to an inbound besides the RBAC filters
// that are replayed, or leads past them, each once.
func otherJudges(unknown []dump.Unknown) []string {
	var out []string
	for _, u := range unknown {
		if u.Kind == dump.Note {
			continue
		}
		reason := u.Reason
		if u.Path != "" {
			reason = u.Path + ": " + reason
		}
		if u.Filter != "" {
			reason = fmt.Sprintf("filter %q: %s", u.Filter, reason)
		}
		if !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	return out
}

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
	addresses, workloads := map[kri.KRI][]netip.Addr{}, map[kri.KRI][]netip.AddrPort{}
	dataplanes, named := map[kri.KRI]string{}, map[kri.KRI]bool{}
	machines, hostNames := map[kri.KRI][]netip.Addr{}, map[kri.KRI][]string{}
	for _, d := range files.Dataplanes {
		for i, in := range d.Inbounds {
			dataplanes[kri.Inbound(in)] = d.Name
			workloads[kri.Inbound(in)] = append(workloads[kri.Inbound(in)], d.Workloads[i])
			for _, address := range d.Machine {
				machines[kri.Inbound(in)] = append(machines[kri.Inbound(in)], address.Unmap())
			}
			hostNames[kri.Inbound(in)] = append(hostNames[kri.Inbound(in)], d.HostNames...)
			if address := d.Addresses[i]; address.IsValid() {
				addresses[kri.Inbound(in)] = append(addresses[kri.Inbound(in)], address.Unmap())
			} else {
				named[kri.Inbound(in)] = true
			}
		}
	}
	var out []*subject
	for _, c := range all {
		source := newSource(c, c.Generated && !files.HasDataplanes)
		for _, in := range c.Inbounds {
			s := &subject{source: source, inbound: in, anyPort: anyPort}
			if c.Generated {
				s.addresses, s.named = addresses[kri.Inbound(in.Inbound)], named[kri.Inbound(in.Inbound)]
				s.machine, s.hostNames = machines[kri.Inbound(in.Inbound)], hostNames[kri.Inbound(in.Inbound)]
				s.workloads, s.dataplane = workloads[kri.Inbound(in.Inbound)], dataplanes[kri.Inbound(in.Inbound)]
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

// title names a sidecar's inbound by its listener. A folder may have filters without a
// listener.
func title(enforced sidecar.Inbound) string {
	if !enforced.Address.IsValid() {
		return "filters of " + enforced.Listener
	}
	return fmt.Sprintf("listener %s (%s)", enforced.Listener, enforced.Address)
}
