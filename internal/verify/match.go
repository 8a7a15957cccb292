package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/dump"
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
	v := &Verification{pod: pod}
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
	unknownOf := found.Index()
	for _, enforced := range found.Inbounds {
		if err := context.Cause(ctx); err != nil {
			return nil, nil, err
		}
		if err := v.match(enforced, unknownOf(enforced), here, to, &replays); err != nil {
			return nil, nil, err
		}
	}
	for _, s := range here {
		if s.isChosen(to) {
			v.closeSubject(s)
		}
	}
	v.tellWholeSidecar(illegible)
	return v, replays.list, nil
}

// match finds out which of the subjects an inbound of the sidecar is, and takes it among the replays. Unknown is what was not
// understood about it.
func (v *Verification) match(enforced sidecar.Inbound, unknown []dump.Unknown, here []*subject, to string, replays *groups) error {
	if v.sidecar.IsDump && !enforced.Address.IsValid() {
		v.notVerified(Contradicted, title(enforced), "it has no listener with an address, and the dump beside it says which listeners the sidecar has: filters without a listener prove nothing there, take them out of the folder")
		return nil
	}
	if enforced.PassesOn && haveDataplanes(here) {
		v.passOn(enforced, unknown, here)
		return nil
	}
	s, err := claimant(here, to, enforced)
	if err != nil {
		return err
	}
	if s == nil {
		v.Unverified = append(v.Unverified, Unverified{Gap: NoPolicies, Inbound: title(enforced), Filters: !enforced.Address.IsValid()})
		return nil
	}
	if !s.isChosen(to) {
		v.leftOut = append(v.leftOut, fmt.Sprintf("%s: it is %s, and %s was chosen", title(enforced), s.name(), to))
		if past := otherJudges(slices.DeleteFunc(unknown, mayNotLead)); len(past) > 0 {
			v.notVerified(OtherJudges, title(enforced), past...)
		}
		return nil
	}
	s.claimed = true
	each, err := s.onPorts(enforced, v.sidecar)
	if err != nil {
		return err
	}
	for _, one := range each {
		if err := v.claim(s, one, unknown, replays); err != nil {
			return err
		}
	}
	return nil
}

// closeSubject tells what is known of a subject once all inbounds of the sidecar are matched.
func (v *Verification) closeSubject(s *subject) {
	if !s.claimed {
		v.Unverified = append(v.Unverified, Unverified{Gap: NoListener, Inbound: s.inbound.String(), Port: s.inbound.Port})
		return
	}
	for _, reason := range s.otherNodes(v.sidecar.Nodes) {
		v.notVerified(OtherWorkload, s.inbound.String(), reason)
	}
	if reason := s.unredirected(v.sidecar); reason != "" {
		v.notVerified(Contradicted, s.inbound.String(), reason)
	}
	v.goHome(s)
}

// tellWholeSidecar tells what may lead past the inbounds of the sidecar as a whole. Illegible are the addresses of its pod that
// cannot be read.
func (v *Verification) tellWholeSidecar(illegible []string) {
	const whole = "the sidecar"
	if v.sidecar.IsDump && len(v.sidecar.Nodes) == 0 {
		v.notVerified(OtherJudges, whole, "the dump has no bootstrap, which holds static listeners, runtime keys and the admin interface: take the whole answer to /config_dump")
	}
	for _, reason := range illegible {
		v.notVerified(Contradicted, whole, reason)
	}
	for _, node := range v.sidecar.Nodes {
		if past := append(passedBy(node), passedByKuma(node, v.sidecar)...); len(past) > 0 {
			v.notVerified(Contradicted, whole, past...)
		}
	}
	for _, u := range v.sidecar.Unplaced() {
		v.notVerified(OtherJudges, whole, u.String())
	}
}

// claim takes a sidecar's inbound among the replays, and notes findings and gaps. Unknown is
// what was not understood about it.
func (v *Verification) claim(s *subject, enforced sidecar.Inbound, unknown []dump.Unknown, replays *groups) error {
	name, hasAddress := title(enforced), enforced.Address.IsValid()
	if enforced.Incomplete {
		v.notVerified(NotReplayable, name)
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
			v.notVerified(Contradicted, name, reason)
		}
	}
	if reason := unredirected(enforced, v.sidecar.Nodes); reason != "" {
		v.notVerified(Contradicted, name, reason)
	}
	if enforced.Unguarded() {
		v.Findings = append(v.Findings, Finding{Fact: Unguarded, Inbound: name})
	}
	other, err := s.unstatedLabels(in, enforced, v.sidecar.Nodes)
	if err != nil {
		return err
	}
	if other != "" {
		v.notVerified(Contradicted, name, other)
	}
	if other, err = s.otherDataplane(in, enforced, v.sidecar.Nodes); err != nil {
		return err
	}
	if other != "" {
		v.notVerified(Contradicted, name, other)
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
			v.notVerified(Contradicted, name, reason)
		}
	}
	reason, err := s.source.strangeDomains(enforced)
	if err != nil {
		return err
	}
	if reason != "" {
		v.notVerified(Contradicted, name, reason)
	}
	if judges := otherJudges(unknown); len(judges) > 0 {
		v.notVerified(OtherJudges, name, judges...)
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

// title names a sidecar's inbound by its listener. A folder may have filters without a
// listener.
func title(enforced sidecar.Inbound) string {
	if !enforced.Address.IsValid() {
		return "filters of " + enforced.Listener
	}
	return fmt.Sprintf("listener %s (%s)", enforced.Listener, enforced.Address)
}
