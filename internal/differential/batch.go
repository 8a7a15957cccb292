package differential

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// batch is many sets in one mesh: each has inbounds of its own, with names and addresses
// that no other set has.
type batch struct {
	sets []*set
	// anyNames leaves it to the compiler how rules are named.
	anyNames bool
	// requests of all sets, and of each the set and its place there.
	requests []harness.Request
	of       []origin
}

type origin struct{ set, request int }

// name is that of an inbound in the mesh.
func name(set int, in cases.Inbound) string { return fmt.Sprintf("%d/%s", set, in) }

// spec is the mesh of all sets. It trusts the trust domains of all of them: no set asks
// for a caller whom its own inbounds would not take.
func (b *batch) spec() harness.MeshSpec {
	var spec harness.MeshSpec
	for i, s := range b.sets {
		for _, td := range s.c.TrustDomains {
			if !slices.Contains(spec.TrustDomains, td) {
				spec.TrustDomains = append(spec.TrustDomains, td)
			}
		}
		for _, in := range s.inbounds {
			spec.Inbounds = append(spec.Inbounds, harness.Inbound{
				Name: name(i, in.Inbound), Identity: in.Identity, Address: address(i, in.Inbound), Protocol: in.Protocol,
				MTLS: in.mtls(), Filters: in.filters, Normalization: s.c.Normalization,
			})
		}
	}
	return spec
}

// address keeps the inbound's port and the last byte of its own address, which tells the
// workloads of a set apart.
func address(set int, in cases.Inbound) netip.AddrPort {
	ip := in.IP.As4()
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, ip[3], byte(set >> 8), byte(set)}), in.Port)
}

func (in inbound) mtls() xds.MTLS {
	switch {
	case in.Permissive && in.program.JudgesPlaintext:
		return xds.PermissiveJudged
	case in.Permissive:
		return xds.Permissive
	default:
		return xds.Strict
	}
}

// fill makes the requests of all sets. Callers of one certificate share it.
func (b *batch) fill(mesh *harness.Mesh) error {
	wallet := map[string]*certs.Credential{}
	for i, s := range b.sets {
		for k, q := range s.c.Requests {
			credential, err := mint(mesh, wallet, q.From)
			if err != nil {
				return fmt.Errorf("differential: %s: mint %s: %w", s.c.Name, q.From.Name, err)
			}
			b.requests = append(b.requests, harness.Request{
				To: name(i, s.inbounds[s.asked[k].inbound].Inbound), Credential: credential, Plaintext: q.From.Plaintext, Method: q.Method, Path: q.Path,
			})
			b.of = append(b.of, origin{i, k})
		}
	}
	return nil
}

func mint(mesh *harness.Mesh, wallet map[string]*certs.Credential, from cases.Caller) (*certs.Credential, error) {
	if from.Plaintext || wallet[from.Name] != nil {
		return wallet[from.Name], nil
	}
	ca, err := mesh.Authority(from.SignedBy)
	if err != nil {
		return nil, err
	}
	wallet[from.Name], err = ca.Forge(from.Template)
	return wallet[from.Name], err
}

// run asks for everything and returns the sets of which something is not as specified,
// each with what differs.
func (b *batch) run(ctx context.Context, h *harness.Harness) (found []suspect, err error) {
	mesh, err := h.NewMesh(ctx, b.spec())
	if err != nil {
		return nil, err
	}
	defer func() {
		// Also where the batch was cut off: its port is another's next.
		if closing := mesh.Close(context.WithoutCancel(ctx)); err == nil {
			err = closing
		}
	}()
	if err := b.fill(mesh); err != nil {
		return nil, err
	}
	answers, err := mesh.Stream(ctx, b.requests...)
	if err != nil {
		return nil, err
	}
	return b.judge(answers), nil
}

// suspect is a set that was not decided as specified, in company of the others.
type suspect struct {
	set      *set
	problems []string
}

// judge holds the evidence of each request against both opinions, and the counters of
// each inbound against the sum of its findings.
func (b *batch) judge(answers harness.Batch) []suspect {
	suspects := make([]suspect, len(b.sets))
	for i, s := range b.sets {
		suspects[i].set = s
	}
	findings := map[string][]evidence.Finding{}
	for i, e := range answers.Evidence {
		at := b.of[i]
		s := &suspects[at.set]
		finding, problems := s.set.compare(at.request, e, b.anyNames)
		s.problems = append(s.problems, problems...)
		findings[b.requests[i].To] = append(findings[b.requests[i].To], finding)
	}
	for i := range suspects {
		for _, in := range suspects[i].set.inbounds {
			to := name(i, in.Inbound)
			if want, moved := evidence.Count(findings[to]), answers.Counters[to]; want != moved {
				suspects[i].problems = append(suspects[i].problems, fmt.Sprintf("the counters of %s moved by %s; the requests add up to %s", in, moved, want))
			}
		}
	}
	return slices.DeleteFunc(suspects, func(s suspect) bool { return len(s.problems) == 0 })
}

// compare holds what became of a request against what both opinions say: decision, who
// decided, the shadow, and the form of a refusal.
func (s *set) compare(request int, e evidence.Evidence, anyNames bool) (evidence.Finding, []string) {
	at, q := s.asked[request], s.c.Requests[request]
	in := s.inbounds[at.inbound]
	var problems []string
	problem := func(format string, args ...any) {
		what := "a connection"
		if in.Protocol.Layer() == policy.L7 {
			what = q.Method + " " + q.Path
		}
		problems = append(problems, fmt.Sprintf("%s to %s as %s: ", what, q.To, q.From.Name)+fmt.Sprintf(format, args...))
	}
	f, err := e.Find()
	if err != nil {
		problem("%v", err)
		return f, problems
	}
	if served := f.Form == evidence.Served; served != (q.Want == cases.Allow) || !served && f.Form != evidence.Refused {
		problem("specified is %s, Envoy says %s (%s)", q.Want, f.Form, f.Verdict)
		return f, problems
	}
	if !at.judged {
		return f, problems
	}
	first, second := policy.Decide(in.program.Program, at.seen), s.parsed.Evaluate(in.Inbound.Inbound, at.seen)
	if first != second {
		problem("the program says %s, the text of the policies %s", describe(first), describe(second))
	}
	found := policy.Decision{Verdict: f.Verdict, Layer: first.Layer, Shadowed: f.Shadow.Ran, Shadow: f.Shadow.Verdict}
	if f.Form == evidence.Refused {
		found.Layer = f.Layer
	}
	switch {
	case len(in.program.Gates) == 0 && f.Judged:
		problem("no policy applies, but Envoy asked one: %s", f.Verdict)
	case len(in.program.Gates) > 0 && (!f.Judged || !same(first, found, anyNames)):
		problem("the program says %s, Envoy %s", describe(first), describe(found))
	}
	if e.Arrival != nil && in.Protocol.Layer() == policy.L7 && e.Arrival.Path != at.seen.Path {
		problem("the upstream saw path %q, judged was %q", e.Arrival.Path, at.seen.Path)
	}
	return f, problems
}

// same compares two decisions, and who made them unless any name will do.
func same(a, b policy.Decision, anyNames bool) bool {
	if anyNames {
		a.Origin, b.Origin, a.Shadow.Origin, b.Shadow.Origin = "", "", "", ""
	}
	return a == b
}

func describe(d policy.Decision) string {
	text := fmt.Sprintf("%s on %s", d.Verdict, d.Layer)
	if d.Shadowed {
		text += ", shadow " + d.Shadow.String()
	}
	return text
}
