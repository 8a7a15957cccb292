package policyset

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/policyset/choice"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Ask reads the policies of a drawn set and chooses requests to each of its inbounds. The
// same arguments give the same requests. An error says that the generator or the oracle is
// wrong: policies are drawn to be valid.
func Ask(c cases.Case, seed, number uint64) (*verdict.Reading, error) {
	reading, err := verdict.Read(c)
	if err != nil {
		return nil, fmt.Errorf("policyset: %s: its policies are drawn to be valid: %w", c.Name, err)
	}
	// The choice of requests does not depend on how the policies are drawn.
	a := asker{choice.Random(^seed, number)}
	for _, in := range reading.Inbounds() {
		for _, q := range a.requests(in) {
			q.Path = a.spell(in, reading.Case.Normalization, q.Path)
			q.Place = fmt.Sprintf("request %d, %s to %s as %s", len(reading.Case.Requests)+1, describe(in, q), q.To, q.From.Name)
			reading.Ask(q)
		}
	}
	return reading, nil
}

// asker chooses the requests to the inbounds of a set.
type asker struct{ *choice.Chooser }

func describe(in verdict.Inbound, q cases.Request) string {
	if in.Protocol.Layer() == policy.L4 {
		return "a connection" + servername.Clause(q.SNI) + endpoint.Clause(q.SourceIP, q.From.SourceIP)
	}
	return q.Method + " " + q.Path + servername.Clause(q.SNI) + token.Clause(q.Token) + endpoint.Clause(q.SourceIP, q.From.SourceIP) + requestline.HeaderClause(q.Authority, q.Headers)
}

// spell writes a path in another way, one time in four, that the listener turns into the same.
func (a asker) spell(in verdict.Inbound, n policy.PathNormalization, path string) string {
	if in.Protocol.Layer() == policy.L4 || !a.OneIn(4) {
		return path
	}
	other := choice.Pick(a.Chooser, "/.", "/", "/x/..", "/x%2F..", "/%2F") + path
	if seen, err := n.Apply(other); err != nil || seen != path {
		return path
	}
	return other
}

// The bounds of what is asked of one inbound. A caller costs a handshake, and where the
// connection is judged each request is a caller.
const (
	mostCallers  = 2
	mostRequests = 8
	// mostClasses is how many classes have a candidate, mostNeighbours how many of them
	// have their neighbours as candidates.
	mostClasses    = 32
	mostNeighbours = 3
)

// requests chooses requests to an inbound: witnesses of classes and neighbours, of few
// callers. Where each request is judged, it adds what the other witnesses ask for, as these
// callers.
func (a asker) requests(in verdict.Inbound) []cases.Request {
	candidates := a.candidates(classes.Cut(in.TrustedSurface(), in.Program.Program))
	q := questions{inbound: in, asked: map[string]bool{}}
	if connectionsJudged(in) {
		q.add(candidates, mostCallers+1, mostCallers+1)
		return q.requests
	}
	callers := q.add(candidates, mostCallers, mostRequests)
	var crossed []policy.Request
	for _, r := range candidates {
		for _, caller := range callers {
			crossed = append(crossed, verdict.AskedBy(r, caller))
		}
	}
	q.add(crossed, mostCallers, mostRequests-len(q.requests))
	return q.requests
}

// connectionsJudged reports whether a request needs a connection of its own.
func connectionsJudged(in verdict.Inbound) bool {
	return in.Protocol.Layer() == policy.L4 || slices.ContainsFunc(in.Program.Gates, func(g policy.Gate) bool { return g.Layer == policy.L4 })
}

// candidates returns requests of classes and on their borders, in any order.
func (a asker) candidates(cover *classes.Cover) []policy.Request {
	chosen := make([]int, len(cover.Classes))
	for i := range chosen {
		chosen[i] = i
	}
	chosen = choice.Shuffled(a.Chooser, chosen)
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
	return choice.Shuffled(a.Chooser, out)
}

// questions are the requests that are asked of one inbound.
type questions struct {
	inbound  verdict.Inbound
	requests []cases.Request
	asked    map[string]bool
}

// add asks for as many of the requests as the bounds allow, none twice, and for none that
// mTLS keeps out. It returns a request of each caller.
func (q *questions) add(some []policy.Request, mostCallers, mostRequests int) (callers []policy.Request) {
	known := map[string]bool{}
	for _, r := range some {
		if mostRequests <= 0 {
			break
		}
		request := q.inbound.Request(r)
		key, name := fmt.Sprintf("%#v", r), request.From.Name
		if request.Want == cases.HandshakeFailure || q.asked[key] || !known[name] && len(callers) == mostCallers {
			continue
		}
		if !known[name] {
			known[name] = true
			callers = append(callers, r)
		}
		q.asked[key] = true
		q.requests = append(q.requests, request)
		mostRequests--
	}
	return callers
}
