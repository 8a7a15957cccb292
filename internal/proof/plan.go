package proof

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/dialect"
)

// Proof is a case that asks for every class of requests.
type Proof struct {
	// Case has the policies of the case it was made of, and requests of its own.
	Case cases.Case
	// Inbounds has a cover for each inbound, in the order of the case.
	Inbounds []Inbound
	// asked tells of each request of the case which inbound and class it is of.
	asked []ask
}

// Asked is a request of a proof, and what the policies see of it.
type Asked struct {
	cases.Request
	Seen policy.Request
	// Judged is false where mTLS answers, or lets pass, and no policy is asked.
	Judged bool
}

// Asked returns the requests of the case, in order.
func (p *Proof) Asked() []Asked {
	out := make([]Asked, len(p.asked))
	for i, at := range p.asked {
		q := p.Case.Requests[i]
		unjudged := q.Want == cases.HandshakeFailure || q.From.Plaintext && !at.plaintext
		out[i] = Asked{q, at.request, !unjudged}
	}
	return out
}

// Inbound is one inbound with the classes of its requests.
type Inbound struct {
	cases.Inbound
	Program policy.Program
	Cover   *classes.Cover
}

// ask is where a request comes from.
type ask struct {
	inbound int
	// class is [classes.Unclassed] for a request of no class.
	class   int
	request policy.Request
	// plaintext says that the policies judge plaintext, too.
	plaintext bool
}

// Plan cuts the requests to every inbound of a case into classes, by its policies, and
// returns a case that asks for a witness of each class, and for its neighbours. The
// case's own requests are left out. It fails where the policies are refused.
func Plan(c cases.Case) (*Proof, error) {
	return PlanWith(c, func(cases.Inbound) []policy.Program { return nil })
}

// PlanWith is [Plan] with further programs for each inbound, which cut the classes too
// and have no say in what is wanted: what a sidecar enforces, say, which may know
// identities that no policy names any more.
func PlanWith(c cases.Case, also func(cases.Inbound) []policy.Program) (*Proof, error) {
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return nil, err
	}
	p := &Proof{Case: bare(c)}
	for i, in := range c.Inbounds {
		if err := set.Check(in.Inbound); err != nil {
			return nil, err
		}
		program := set.Program(in.Inbound)
		surface := classes.Surface{Protocol: in.Protocol, Normalization: c.Normalization}
		inbound := Inbound{Inbound: in, Program: program.Program, Cover: classes.Of(surface, append(also(in), program.Program)...)}
		p.Inbounds = append(p.Inbounds, inbound)
		p.ask(i, program.JudgesPlaintext)
	}
	return p, nil
}

// mostBordered is the number of classes whose neighbours are asked: where there are more,
// they are so close together that they are each other's.
const mostBordered = 1024

// ask adds the requests of one inbound: those of each class, the neighbours that no
// class before had, and the paths as nobody writes them.
func (p *Proof) ask(i int, judgesPlaintext bool) {
	in := p.Inbounds[i]
	asked := map[string]bool{}
	add := func(r policy.Request, class int, path string) {
		key := fmt.Sprintf("%q %q", r, path)
		if asked[key] {
			return
		}
		asked[key] = true
		q := request(in, r, judgesPlaintext, p.Case.TrustDomains[0])
		q.Path = path
		p.add(q)
		p.asked = append(p.asked, ask{i, class, r, judgesPlaintext})
	}
	for class, c := range in.Cover.Classes {
		add(c.Witness, class, c.Witness.Path)
	}
	for class := range in.Cover.Classes[:min(len(in.Cover.Classes), mostBordered)] {
		for _, n := range in.Cover.Neighbours(class) {
			add(n.Request, n.Class, n.Request.Path)
		}
	}
	for _, r := range crossed(in.Cover) {
		addLocated(in.Cover, r, add)
	}
	for _, r := range longerNames(in) {
		addLocated(in.Cover, r, add)
	}
	if !readsPaths(in.Cover) {
		return
	}
	for class, c := range in.Cover.Classes {
		// The listener takes the dot segment out again, or a path is a way around.
		if odd := "/." + c.Witness.Path; normalizes(p.Case.Normalization, odd, c.Witness.Path) {
			add(c.Witness, class, odd)
		}
	}
}

func addLocated(c *classes.Cover, r policy.Request, add func(policy.Request, int, string)) {
	class, ok := c.Locate(r)
	if !ok {
		class = classes.Unclassed
	}
	add(r, class, r.Path)
}

// add takes a request into the case. The inbounds trust whatever domain the caller is
// of: who may be trusted is mTLS's question, and not the policies'.
func (p *Proof) add(q cases.Request) {
	q.Place = fmt.Sprintf("request %d", len(p.Case.Requests)+1)
	if td := q.From.SignedBy; !td.IsZero() && !slices.Contains(p.Case.TrustDomains, td) {
		p.Case.TrustDomains = append(p.Case.TrustDomains, td)
	}
	p.Case.Requests = append(p.Case.Requests, q)
}
