package proof

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Proof is a case that asks for every class of requests, with its policies read. The case
// has the policies of the case that it was made of, and requests of its own.
type Proof struct {
	*verdict.Reading
	// Inbounds has a cover for each inbound, in the order of the case.
	Inbounds []Inbound
	// asked says of each request of the case which inbound and class it is of.
	asked []ask
}

// Inbound is one inbound with the classes of its requests.
type Inbound struct {
	verdict.Inbound
	Program policy.Program
	Cover   *classes.Cover
}

// ask is where a request of a proof comes from.
type ask struct {
	inbound int
	// class is [classes.Unclassed] for a request of no class.
	class   int
	request policy.Request
}

// Asked is a request of a proof, and what the policies see of it.
type Asked struct {
	cases.Request
	Seen policy.Request
	// Judged is false where mTLS answers, or where the request passes unjudged.
	Judged bool
}

// Asked returns the requests of the case, in order.
func (p *Proof) Asked() []Asked {
	out := make([]Asked, len(p.asked))
	for i, a := range p.asked {
		q := p.Case.Requests[i]
		out[i] = Asked{q, a.request, p.Inbounds[a.inbound].Judges(q)}
	}
	return out
}

// Plan reads the policies of a case, cuts the requests to each inbound into classes, and
// returns a case that asks for a witness of each class and for its neighbours. It leaves
// out the case's own requests. It fails where the policies are refused.
func Plan(c cases.Case) (*Proof, error) {
	reading, err := verdict.Read(c)
	if err != nil {
		return nil, err
	}
	return PlanRead(reading), nil
}

// PlanRead is [Plan] for a case whose policies have been read. The further programs cut the
// classes of each inbound too, such as what a sidecar enforces, which may know identities
// that no policy names any more. What a request must become is up to the policies alone.
func PlanRead(reading *verdict.Reading, further ...policy.Program) *Proof {
	p := &Proof{Reading: reading.As(withoutRequests(reading.Case))}
	for i, in := range p.Reading.Inbounds() {
		program := in.Program.Program
		cover := classes.Of(in.Surface(), append(slices.Clone(further), program)...)
		p.Inbounds = append(p.Inbounds, Inbound{in, program, cover})
		p.ask(i)
	}
	return p
}

// mostBordered is the number of classes whose neighbours are asked for. Where there are
// more classes, they are so close together that each is a neighbour of another.
const mostBordered = 1024

// ask adds the requests to one inbound: a witness of each class, the neighbours, and the
// variants of the witnesses. It adds none twice.
func (p *Proof) ask(i int) {
	in := p.Inbounds[i]
	asked := map[string]bool{}
	add := func(r policy.Request, class int, path string) {
		key := fmt.Sprintf("%q %q", r, path)
		if asked[key] {
			return
		}
		asked[key] = true
		q := in.Request(r)
		q.Path = path
		p.add(q, ask{i, class, r})
	}
	for class, c := range in.Cover.Classes {
		add(c.Witness, class, c.Witness.Path)
	}
	for class := range in.Cover.Classes[:min(len(in.Cover.Classes), mostBordered)] {
		for _, n := range in.Cover.Neighbours(class) {
			add(n.Request, n.Class, n.Request.Path)
		}
	}
	for _, r := range slices.Concat(crossed(in.Cover), longerNames(in)) {
		class, ok := in.Cover.Locate(r)
		if !ok {
			class = classes.Unclassed
		}
		add(r, class, r.Path)
	}
	if !readsPaths(in.Cover) {
		return
	}
	for class, c := range in.Cover.Classes {
		if path, ok := verdict.Detour(p.Case.Normalization, c.Witness.Path); ok {
			add(c.Witness, class, path)
		}
	}
}

// add takes a request into the case. The inbounds trust the trust domain of every caller:
// whether a trust domain is trusted is a question of mTLS, and the proof is about the
// policies.
func (p *Proof) add(q cases.Request, from ask) {
	q.Place = fmt.Sprintf("request %d", len(p.Case.Requests)+1)
	if td := q.From.SignedBy; !td.IsZero() && !slices.Contains(p.Case.TrustDomains, td) {
		p.Case.TrustDomains = append(p.Case.TrustDomains, td)
	}
	p.Case.Requests = append(p.Case.Requests, q)
	p.asked = append(p.asked, from)
}

// withoutRequests returns a case without what it says of its own requests.
func withoutRequests(c cases.Case) cases.Case {
	c.Requests, c.Counters, c.ExpectError, c.ExpectWarnings, c.Gate = nil, nil, "", nil, cases.Gate{}
	c.TrustDomains = slices.Clone(c.TrustDomains)
	return c
}
