package differential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
	"github.com/meshproof/meshproof/xds"
)

// set is one set of policies, ready to be run.
type set struct {
	number uint64
	// c has the requests that are asked.
	c      cases.Case
	parsed dialect.Set
	// inbounds has an entry for each inbound of the case, asked one for each request.
	inbounds []inbound
	asked    []asked
	// refused is why the compiler under test refuses policies that are valid.
	refused error
}

type inbound struct {
	cases.Inbound
	program dialect.Program
	filters xds.Filters
}

// asked is a request as the policies see it.
type asked struct {
	inbound int
	seen    policy.Request
	// judged is false for plaintext that passes the policies.
	judged bool
}

// prepare has a set compiled and chooses what is asked. An error says that the generator
// or the oracle is wrong, or that the compiler is out of order.
func prepare(ctx context.Context, compiler suite.Compiler, c cases.Case, seed, number uint64) (*set, error) {
	s := &set{number: number, c: c}
	var err error
	if s.parsed, err = dialect.Parse(s.c.Policies, s.c.Options); err != nil {
		return nil, fmt.Errorf("differential: %s: its policies are drawn to be valid: %w", s.c.Name, err)
	}
	// What is asked has nothing to do with how the policies are drawn.
	choose := random(^seed, number)
	for _, in := range s.c.Inbounds {
		if err := s.parsed.Check(in.Inbound); err != nil {
			return nil, fmt.Errorf("differential: %s: its policies are drawn to be valid: %w", s.c.Name, err)
		}
		one := inbound{Inbound: in, program: s.parsed.Program(in.Inbound)}
		if one.filters, err = compiler.Compile(ctx, in.Inbound, s.c.Policies, s.c.Options); err != nil {
			broken := interface{ Broken() bool }(nil)
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case errors.As(err, &broken) && broken.Broken():
				return nil, fmt.Errorf("differential: %s: %w", s.c.Name, err)
			}
			s.refused = fmt.Errorf("the compiler refuses valid policies on %s: %w", in, err)
		}
		s.inbounds = append(s.inbounds, one)
		s.ask(choose, len(s.inbounds)-1)
	}
	return s, nil
}

// surface says who can reach the inbound.
func surface(c cases.Case, in cases.Inbound) classes.Surface {
	s := classes.Surface{Protocol: in.Protocol, Normalization: c.Normalization}
	for _, td := range c.TrustDomains {
		s.TrustDomains = append(s.TrustDomains, td.Name())
	}
	return s
}

// The bounds of what is asked of one inbound. A caller costs a handshake, and where the
// connection is judged each request is a caller.
const (
	mostCallers  = 2
	mostRequests = 8
	// Of so many classes all are candidates, and the neighbours of as many.
	mostClasses    = 32
	mostNeighbours = 3
)

// ask chooses requests to an inbound: witnesses of classes and neighbours, of few callers;
// where requests are judged, also what others of them ask for as these callers.
func (s *set) ask(c *chooser, at int) {
	in := s.inbounds[at]
	some := candidates(c, classes.Of(surface(s.c, in.Inbound), in.program.Program))
	if connectionsJudged(in) {
		s.add(at, some, mostCallers+1, mostCallers+1)
		return
	}
	callers := s.add(at, some, mostCallers, mostRequests)
	var crossed []policy.Request
	for _, r := range some {
		for _, caller := range callers {
			r.URIs, r.DNS = caller.URIs, caller.DNS
			crossed = append(crossed, r)
		}
	}
	s.add(at, crossed, mostCallers, mostRequests-len(s.asked)+s.first(at))
}

// first is the number of requests to the inbounds before.
func (s *set) first(at int) int {
	if i := slices.IndexFunc(s.asked, func(a asked) bool { return a.inbound == at }); i >= 0 {
		return i
	}
	return len(s.asked)
}

// add asks for as many of the requests as the bounds allow, none twice. It returns one
// of each caller.
func (s *set) add(at int, some []policy.Request, mostCallers, mostRequests int) (callers []policy.Request) {
	known, twice := map[string]bool{}, map[string]bool{}
	for _, a := range s.asked[s.first(at):] {
		twice[fmt.Sprintf("%q", a.seen)] = true
	}
	for _, r := range some {
		q, judged, ok := s.request(s.inbounds[at], r)
		key := fmt.Sprintf("%q", r)
		switch {
		case mostRequests <= 0:
			return callers
		case !ok, twice[key], !known[q.From.Name] && len(callers) == mostCallers:
			continue
		case !known[q.From.Name]:
			known[q.From.Name] = true
			callers = append(callers, r)
		}
		twice[key] = true
		s.c.Requests, s.asked = append(s.c.Requests, q), append(s.asked, asked{at, r, judged})
		mostRequests--
	}
	return callers
}

// connectionsJudged reports whether a request needs a connection of its own.
func connectionsJudged(in inbound) bool {
	return in.Protocol.Layer() == policy.L4 || slices.ContainsFunc(in.program.Gates, func(g policy.Gate) bool { return g.Layer == policy.L4 })
}

// candidates are requests of classes and on their borders, in any order.
func candidates(c *chooser, cover *classes.Cover) []policy.Request {
	chosen := make([]int, len(cover.Classes))
	for i := range chosen {
		chosen[i] = i
	}
	chosen = shuffled(c, chosen)
	chosen = chosen[:min(len(chosen), mostClasses)]
	var out []policy.Request
	for i, class := range chosen {
		out = append(out, cover.Classes[class].Witness)
		if i < mostNeighbours {
			for _, n := range cover.Neighbours(class) {
				out = append(out, n.Request)
			}
		}
	}
	return shuffled(c, out)
}

// request is one as a case has it. A caller without a name comes in plaintext; ok is
// false where none can come.
func (s *set) request(in inbound, r policy.Request) (q cases.Request, judged, ok bool) {
	q = cases.Request{
		Place: fmt.Sprintf("request %d", len(s.c.Requests)+1),
		To:    in.String(), Method: r.Method, Path: r.Path, Want: want(policy.Decide(in.program.Program, r)),
	}
	if len(r.URIs)+len(r.DNS) > 0 {
		q.From = s.caller(r)
		return q, true, true
	}
	q.From = cases.Caller{Name: "plaintext", Plaintext: true}
	if !in.program.JudgesPlaintext {
		q.Want = cases.Allow
	}
	return q, in.program.JudgesPlaintext, in.Permissive
}

func want(d policy.Decision) cases.Want {
	if d.Effect == policy.Allow {
		return cases.Allow
	}
	return cases.Deny
}

// caller has a certificate of these names, signed by the CA of the first one's domain.
func (s *set) caller(r policy.Request) cases.Caller {
	c := cases.Caller{
		Name:     callerName(r),
		Template: certs.Template{URIs: r.URIs, DNS: r.DNS}, SignedBy: s.c.TrustDomains[0],
	}
	if len(r.URIs) > 0 {
		if id, err := spiffeid.FromString(r.URIs[0]); err == nil {
			c.SignedBy = id.TrustDomain()
		}
	}
	return c
}

// callerName joins the names of a certificate.
func callerName(r policy.Request) string {
	names := slices.Clone(r.URIs)
	for _, name := range r.DNS {
		names = append(names, "DNS "+name)
	}
	return strings.Join(names, " + ")
}
