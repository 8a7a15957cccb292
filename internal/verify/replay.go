package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/explanation"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/sidecar"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/unsendable"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// Replay is one inbound of the sidecar, and the proof of what it has to enforce. The proof
// holds for all equal inbounds.
type Replay struct {
	// Filters are the filters of the sidecar.
	Filters xds.Filters
	Proof   *proof.Proof
	// Inbounds name the inbounds, in order.
	Inbounds []string

	source *source
}

// mostReplays bounds the inbounds that differ. Each takes some 30 ms.
const mostReplays = 500

// mostClasses bounds the classes of requests to one inbound. Envoy walks a list of identities for
// each request, so that the time grows with the square of their number.
const mostClasses = 10000

// plan plans the proof of each group, and notes what no proof asks for.
func (v *Verification) plan(ctx context.Context, all []*group) error {
	for _, g := range all {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if n := len(g.inbounds) - 1; n > 0 {
			g.reading.Case.Name += fmt.Sprintf(", and %s with equal filters", terminal.Count(n, "inbound"))
		}
		plan := proof.PlanRead(g.reading, g.lifted)
		plan.LintAmong(v.lintScope(g, all))
		cover := plan.Inbounds[0].Cover
		if n := len(cover.Classes); n > mostClasses {
			reason := fmt.Sprintf("there are %d classes of its requests, and no more than %d are asked, which takes minutes", n, mostClasses)
			for _, name := range g.inbounds {
				v.notVerified(Sampled, name, reason)
			}
			continue
		}
		cover.Sampled = append(cover.Sampled, g.lost...)
		if in := plan.Inbounds[0]; len(cover.Sampled) == 0 {
			cover.Sampled = unsendable.Widened(cover, in.Surface(), in.Program, g.lifted, nil)
		}
		for _, name := range g.inbounds {
			if len(cover.Sampled) > 0 {
				v.notVerified(Sampled, name, cover.Sampled...)
			}
		}
		v.Replays = append(v.Replays, Replay{g.filters, plan, g.inbounds, g.source})
		v.compareTrustDomains(verdict.TrustDomains(plan.Inbounds[0].Program), verdict.TrustDomains(g.lifted))
	}
	return nil
}

// compareTrustDomains finds that the sidecar's rules name other trust domains than those of the policies: then the policies may have
// been read for another one than that of the mesh.
func (v *Verification) compareTrustDomains(wanted, enforced []string) {
	both := slices.ContainsFunc(enforced, func(td string) bool { return slices.Contains(wanted, td) })
	if both || len(wanted) == 0 || len(enforced) == 0 {
		return
	}
	found := Finding{Fact: OtherTrustDomain, Inbound: "the sidecar", Named: enforced[0], Read: wanted[0]}
	if !slices.Contains(v.Findings, found) {
		v.Findings = append(v.Findings, found)
	}
}

// lintScope returns the inbounds that warnings about the policies of a group are about: all that the files or the
// flags describe, and those of the sidecar.
func (v *Verification) lintScope(of *group, all []*group) (out []policy.Inbound) {
	if !of.source.Generated {
		for _, in := range of.source.Inbounds {
			out = append(out, in.Inbound)
		}
		return out
	}
	out = slices.Clone(v.described)
	for _, g := range all {
		if g.source.Generated {
			out = append(out, g.reading.Case.Inbounds[0].Inbound)
		}
	}
	return out
}

// Explain gives each request that will not be decided as specified the command that explains
// it. The function returns the command for a case of the policies, where flags describe the
// inbound with the further arguments.
func (v *Verification) Explain(command func(lab.Case, ...string) explanation.Command) {
	for _, replay := range v.Replays {
		in := replay.Proof.Inbounds[0]
		var port []string
		if replay.source.ofFlags {
			port = []string{"--port", strconv.Itoa(int(in.Port)), "--protocol", in.Protocol.String()}
		}
		replay.Proof.Explain = command(replay.source.Case, port...).Line
	}
}

// Run runs the replays, one after the other, and takes their results. The error is the
// cause for which ctx ended.
func (v *Verification) Run(ctx context.Context, run func(context.Context, Replay) result.Case) error {
	warned := map[string]bool{}
	for _, replay := range v.Replays {
		r := run(ctx, replay)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		// Lint is about all inbounds, so that each replay has the same warnings.
		r.Warnings = slices.DeleteFunc(r.Warnings, func(w policy.Warning) bool {
			before := warned[w.String()]
			warned[w.String()] = true
			return before
		})
		v.Report.Add(replay.Proof, r)
	}
	return nil
}

// source is a case of the policies, which are read once.
type source struct {
	lab.Case
	// ofFlags is true where flags describe the inbound.
	ofFlags bool
	read    func() (*verdict.Reading, error)
}

func newSource(c lab.Case, ofFlags bool) *source {
	return &source{c, ofFlags, sync.OnceValues(func() (*verdict.Reading, error) {
		c := c.Case
		c.Inbounds = nil
		return verdict.Read(c)
	})}
}

// readFor reads the policies for one inbound of the sidecar. It is a case of its own, because
// listeners differ in how they normalize paths.
func (s *source) readFor(in cases.Inbound, enforced sidecar.Inbound) (*verdict.Reading, error) {
	whole, err := s.read()
	if err != nil {
		return nil, err
	}
	in.MTLS = modeOf(enforced)
	if wanted := whole.Set().Program(in.Inbound).MTLS; in.MTLS == mtls.Disable && !wanted.TakesPlaintext() {
		// The callers are asked as if they had names: [WeakTransport] says that they have none.
		in.MTLS = mtls.Strict
	}
	in.TrustedHops = enforced.TrustedHops
	if enforced.Destination.IsValid() {
		in.IP = enforced.Destination
	}
	c := s.Case.Case
	c.Name = fmt.Sprintf("%s on listener %s", in, enforced.Listener)
	if enforced.Chain != "" {
		c.Name += ", chain " + enforced.Chain
	}
	c.Inbounds, c.Normalization = []cases.Inbound{in}, enforced.Normalization
	return whole.ForSidecar(c)
}

// modeOf returns which callers reach the filters of a chain. Those of a permissive listener
// over TLS serve plaintext too: the lab gives both chains the same filters.
func modeOf(enforced sidecar.Inbound) mtls.Mode {
	switch {
	case enforced.Permissive:
		return mtls.Permissive
	case enforced.Transport == sidecar.Plaintext && enforced.Address.IsValid():
		return mtls.Disable
	default:
		return mtls.Strict
	}
}

// modeGap says what differs between the mTLS of a chain and that of the policies, "" for
// nothing. Policies may say nothing of it. A listener that is permissive has a chain for
// plaintext alone.
func modeGap(wanted mtls.Mode, enforced sidecar.Inbound) string {
	has := modeOf(enforced)
	switch {
	case wanted == mtls.Unset, has == wanted, has == mtls.Disable && wanted == mtls.Permissive:
		return ""
	default:
		return fmt.Sprintf("the policies say that mtls is %s, and the sidecar's is %s", wanted, has)
	}
}

// hopsGap says why the remote address of a sidecar may be another one than that of the policies, "" for
// nothing: each entry of x-forwarded-for that is trusted lets a caller choose the next one. Without a statement,
// a sidecar trusts the last entry, as Envoy does by default, or none.
func hopsGap(stated, trusted int) string {
	switch {
	case stated == 0 && trusted > 1:
		return fmt.Sprintf("the policies or a filter ask for the remote address, and the sidecar trusts %d entries of x-forwarded-for: a case says how many it has to trust, by xffTrustedHops", trusted)
	case stated > 0 && trusted != stated:
		return fmt.Sprintf("the policies or a filter ask for the remote address, and the sidecar trusts %d entries of x-forwarded-for, not %d", trusted, stated)
	default:
		return ""
	}
}

// asksForRemote reports whether a program asks for the remote address.
func asksForRemote(programs ...policy.Program) bool {
	return slices.ContainsFunc(programs, func(p policy.Program) bool {
		for c := range p.Conditions() {
			if is, ok := c.(policy.Is); ok && is.Attribute == attribute.RemoteAddress {
				return true
			}
		}
		return false
	})
}

// takesPlaintext reports whether the policies say that the inbound takes plaintext.
func (s *source) takesPlaintext(in cases.Inbound, enforced sidecar.Inbound) (bool, error) {
	reading, err := s.readFor(in, enforced)
	if err != nil {
		return false, err
	}
	return reading.Inbounds()[0].Program.MTLS.TakesPlaintext(), nil
}

// decidesAlike reports whether the policies say the same of an inbound for each of two
// layers it has: the one that is wanted, and the sidecar's. Where tokens are verified, some requests are refused, and no connection is.
func (s *source) decidesAlike(wanted, has cases.Inbound, enforced sidecar.Inbound) (bool, error) {
	first, errFirst := s.readFor(wanted, enforced)
	second, errSecond := s.readFor(has, enforced)
	if err := errors.Join(errFirst, errSecond); err != nil {
		return false, err
	}
	refusesTokens := wanted.Protocol.Layer() == policy.L7 && first.Inbounds()[0].Program.Tokens.Reads()
	return !refusesTokens && withoutLayers(first).Equal(withoutLayers(second)), nil
}

// withoutLayers returns the program of a reading with one inbound, with all gates on one
// layer.
func withoutLayers(r *verdict.Reading) policy.Program {
	program := r.Inbounds()[0].Program.Program
	for _, gates := range []*[]policy.Gate{&program.Gates, &program.Shadows} {
		*gates = slices.Clone(*gates)
		for i := range *gates {
			(*gates)[i].Layer = policy.L4
		}
	}
	return program
}
