package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/xds"
)

// Replay is one inbound of the sidecar, and the proof of what it has to enforce.
type Replay struct {
	// Filters are those of the sidecar, whatever the policies are.
	Filters xds.Filters
	Proof   *proof.Proof
}

// Match matches the inbounds of the sidecar with those of the cases, by the addresses of
// Dataplanes and by ports, and plans a proof for each pair. portNamed is true where flags
// name the port of the inbound. It fails where several inbounds may be meant, and where
// policies are refused.
func Match(all []lab.Case, files *lab.Files, portNamed bool, found sidecar.Sidecar) (*Verification, error) {
	v := &Verification{sidecar: found}
	here, elsewhere := partElsewhere(subjectsOf(all, files, portNamed), found)
	for _, s := range elsewhere {
		v.leftOut = append(v.leftOut, fmt.Sprintf("%s: the sidecar is of another Dataplane, for it does not listen on %s", s.name(), s.addresses[0]))
	}
	for _, enforced := range found.Inbounds {
		s, err := claimant(here, enforced)
		if err != nil {
			return nil, err
		}
		if s == nil {
			v.Unverified = append(v.Unverified, Unverified{Gap: NoPolicies, Inbound: title(enforced), Filters: !enforced.Address.IsValid()})
			continue
		}
		s.claimed = true
		if err := v.claim(s, enforced); err != nil {
			return nil, err
		}
	}
	for _, s := range here {
		if !s.claimed {
			v.Unverified = append(v.Unverified, Unverified{Gap: NoListener, Inbound: s.in.String(), Port: s.in.Port})
		}
	}
	return v, nil
}

// claim plans the replay of what the sidecar enforces for an inbound, and notes what else
// there is to say of it.
func (v *Verification) claim(s *subject, enforced sidecar.Inbound) error {
	name, hasAddress := title(enforced), enforced.Address.IsValid()
	if enforced.Incomplete {
		v.Unverified = append(v.Unverified, Unverified{Gap: NotReplayable, Inbound: name})
		return nil
	}
	find := func(f Finding) {
		f.Inbound = name
		v.Findings = append(v.Findings, f)
	}
	in := s.in
	if s.anyPort && hasAddress {
		in.Port = enforced.Address.Port()
	}
	if in.Protocol.Layer() != enforced.Protocol.Layer() {
		if !s.anyPort {
			find(Finding{Fact: OtherProtocol, Found: enforced.Protocol, Wanted: in.Protocol})
		}
		in.Protocol = enforced.Protocol
	}
	ip := enforced.Address.Addr()
	if len(s.addresses) > 0 && hasAddress && !ip.IsUnspecified() && !s.hasAddress(ip) {
		find(Finding{Fact: OtherAddress, Address: s.addresses[0].String()})
	}
	if enforced.Unguarded() {
		find(Finding{Fact: Unguarded})
	}
	if enforced.Transport != sidecar.MutualTLS && hasAddress {
		find(Finding{Fact: WeakTransport, Transport: enforced.Transport})
	}
	if judges := v.otherJudges(enforced); len(judges) > 0 {
		v.Unverified = append(v.Unverified, Unverified{Gap: OtherJudges, Inbound: name, Judges: judges})
	}
	replay, err := newReplay(s.of.Case, in, enforced)
	if err != nil {
		return err
	}
	v.Replays = append(v.Replays, replay)
	return nil
}

// otherJudges returns what decides about requests to an inbound besides the RBAC filters
// that are replayed, each once.
func (v *Verification) otherJudges(enforced sidecar.Inbound) []string {
	var out []string
	for _, u := range v.sidecar.Of(enforced) {
		if u.Kind != sidecar.Opaque && (u.Kind != sidecar.Beside || u.Position != sidecar.InFront) {
			continue
		}
		reason := u.Reason
		if u.Filter != "" {
			reason = fmt.Sprintf("filter %q: %s", u.Filter, reason)
		}
		if !slices.Contains(out, reason) {
			out = append(out, reason)
		}
	}
	return out
}

// newReplay plans the proof of one inbound. It is a case of its own, because listeners
// differ in how they normalize paths.
func newReplay(c cases.Case, in cases.Inbound, enforced sidecar.Inbound) (Replay, error) {
	in.Permissive = enforced.Permissive
	c.Name = fmt.Sprintf("%s on listener %s", in, enforced.Listener)
	if enforced.Chain != "" {
		c.Name += ", chain " + enforced.Chain
	}
	c.Inbounds, c.Normalization = []cases.Inbound{in}, enforced.Normalization
	program, lost := enforced.Program()
	reading, err := verdict.Read(c)
	if err != nil {
		return Replay{}, err
	}
	plan := proof.PlanRead(reading, program)
	plan.Inbounds[0].Cover.Sampled = append(plan.Inbounds[0].Cover.Sampled, lost...)
	return Replay{enforced.Filters, plan}, nil
}

// Run runs the replays, one after the other, and takes their results. The error is the
// cause for which ctx ended.
func (v *Verification) Run(ctx context.Context, run func(context.Context, Replay) result.Case) error {
	for _, replay := range v.Replays {
		r := run(ctx, replay)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		// Lint is about all inbounds, and a replay has one of them.
		r.Warnings = nil
		v.Report.Add(replay.Proof, r)
	}
	return nil
}
