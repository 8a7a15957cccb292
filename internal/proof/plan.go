// Package proof makes statements about all requests of an inbound: it cuts them into
// classes that the policies decide alike, and asks for one request of each class and for
// requests on the border of a class.
//
// [Plan] turns the policies of a case into a case with those requests. A runner holds it
// against a real Envoy like any other case, and [Proof.Judge] draws the verdict from the
// result. The package guarantees that no class is left out: a class that no caller can
// reach is kept, with the reason. [Compare] does the same for two sets of policies, and
// finds every class that they decide differently.
//
// It decides nothing itself: package classes cuts, and package verdict says what must
// become of a request.
package proof

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/policy/classes"
)

// Proof is a case that asks for every class of requests, with its policies read. The case
// has the policies of the case that it was made of, and requests of its own.
type Proof struct {
	*verdict.Reading
	// Inbounds has a cover for each inbound, in the order of the case.
	Inbounds []Inbound
	// Stated is the case with its own requests, which state what they want; nil where it has
	// none. It runs beside the proof, because the proof trusts the trust domain of each
	// caller.
	Stated *verdict.Reading
	// Explain returns the command that explains a request of a case, whose caller the files
	// name or not; nil for none.
	Explain func(c cases.Case, q cases.Request, named bool) string
	// asked says of each request of the case which inbound and class it is of.
	asked []ask
}

// Inbound is one inbound with the classes of its requests.
type Inbound struct {
	verdict.Inbound
	Program policy.Program
	Cover   *classes.Cover
	// Made says what the inbound is, where no file describes it; else it is empty.
	Made string
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
		q, in := p.Case.Requests[i], p.Inbounds[a.inbound]
		out[i] = Asked{q, in.Placed(a.request), in.Judges(q)}
	}
	return out
}

// Plan reads the policies of a case, cuts the requests to each inbound into classes, and
// returns a case that asks for a witness of each class and for its neighbours. The case's
// own requests are a case beside it. It fails where the policies are refused.
func Plan(c cases.Case) (*Proof, error) {
	reading, err := verdict.Read(c)
	if err != nil {
		return nil, err
	}
	return PlanRead(reading), nil
}

// PlanAll plans the proofs of cases: with the requests of an adversary where that is asked for, with
// the warnings of lint, with what was made, and with the function that gives the command which
// explains a request. The error joins those of refused policies.
func PlanAll(all []lab.Case, adversary bool, explain func(lab.Case) func(cases.Case, cases.Request, bool) string) (out []*Proof, err error) {
	for _, c := range all {
		p, refused := Plan(c.Case)
		if refused != nil {
			err = errors.Join(err, refused)
			continue
		}
		if adversary {
			p.Attack()
		}
		p.LintAmong(c.LintScope)
		p.Explain = explain(c)
		for i, m := range c.Made {
			p.Inbounds[i].Made = m.String()
		}
		out = append(out, p)
	}
	return out, err
}

// PlanRead is [Plan] for a case whose policies have been read. The further programs cut the
// classes of each inbound too, such as what a sidecar enforces, which may know identities
// that no policy names any more. What a request must become is up to the policies alone.
func PlanRead(reading *verdict.Reading, further ...policy.Program) *Proof {
	p := &Proof{Reading: reading.WithoutRequests(), Stated: ownRequests(reading)}
	for i, in := range p.Reading.Inbounds() {
		program := in.Program.Program
		cover := classes.Cut(in.Surface(), append(slices.Clone(further), program)...)
		p.Inbounds = append(p.Inbounds, Inbound{Inbound: in, Program: program, Cover: cover})
		p.ask(i, further)
	}
	return p
}

// mostBordered is the number of classes whose neighbours are asked for. Where there are
// more classes, they are so close together that each is a neighbour of another.
const mostBordered = 1024

// ask adds the requests to one inbound: a witness of each class, the neighbours, and the
// variants of the witnesses. It adds none twice. The further programs are those of [PlanRead].
func (p *Proof) ask(i int, further []policy.Program) {
	in := p.Inbounds[i]
	asked := map[string]bool{}
	addAs := func(r policy.Request, class int, sni, path string) {
		key := fmt.Sprintf("%#v %q %q", r, sni, path)
		if asked[key] {
			return
		}
		asked[key] = true
		q := in.Request(r)
		q.Path = path
		if sni != r.SNI {
			q.SNI = sni
		}
		p.add(q, ask{i, class, r})
	}
	add := func(r policy.Request, class int) { addAs(r, class, r.SNI, r.Path) }
	addLocated := func(r policy.Request) {
		class, ok := in.Cover.Locate(r)
		if !ok {
			class = classes.Unclassed
		}
		add(r, class)
	}
	for class, c := range in.Cover.Classes {
		add(c.Witness, class)
	}
	for _, r := range inPlaintext(in, further) {
		addLocated(r)
	}
	callers, requests := axes(in.Cover)
	known := map[string]bool{}
	for _, request := range requests {
		known[requestKey(request)] = true
	}
	// border are the requests of neighbours that no witness has.
	var border []policy.Request
	for class := range in.Cover.Classes[:min(len(in.Cover.Classes), mostBordered)] {
		for _, n := range in.Cover.Neighbours(class) {
			add(n.Request, n.Class)
			request := verdict.AskedBy(n.Request, policy.Request{})
			if key := requestKey(request); !known[key] {
				known[key] = true
				border = append(border, request)
			}
		}
	}
	for _, r := range slices.Concat(crossed(callers, border, mostVariants/4), crossed(callers, requests, mostVariants), longerNames(in), longerServerNames(in)) {
		addLocated(r)
	}
	readsPath, readsSNI := reads(in.Cover, attribute.Path), reads(in.Cover, attribute.SNI)
	for class, c := range in.Cover.Classes[:min(len(in.Cover.Classes), mostVariants)] {
		if path, ok := verdict.Detour(p.Case.Normalization, c.Witness.Path); ok && readsPath {
			addAs(c.Witness, class, c.Witness.SNI, path)
		}
		if sni, ok := verdict.OtherCase(c.Witness.SNI); ok && readsSNI && !verdict.Nameless(c.Witness) {
			addAs(c.Witness, class, sni, c.Witness.Path)
		}
	}
	p.forgeTokens(i)
	p.forgeAddresses(i, add)
	p.askMistakes(i, add)
}

// add takes a request into the case.
func (p *Proof) add(q cases.Request, from ask) {
	p.Ask(q)
	p.asked = append(p.asked, from)
}

// ownRequests returns the case with its own requests to the inbounds that it has: one inbound
// may have been chosen.
func ownRequests(reading *verdict.Reading) *verdict.Reading {
	c := reading.Case
	isThere := func(name string) bool {
		return slices.ContainsFunc(c.Inbounds, func(in cases.Inbound) bool { return in.String() == name })
	}
	c.Requests = slices.DeleteFunc(slices.Clone(c.Requests), func(q cases.Request) bool { return !isThere(q.To) })
	c.Counters = slices.DeleteFunc(slices.Clone(c.Counters), func(counters cases.Counters) bool { return !isThere(counters.Inbound) })
	if len(c.Requests)+len(c.RoutedRequests) == 0 {
		return nil
	}
	if len(c.Requests) < len(reading.Case.Requests) {
		c.ExpectWarnings = nil
	}
	return reading.ForRequests(c)
}

// mostVictims is how many identities of an inbound are impersonated.
const mostVictims = 3

// unlogged are identities with names that Envoy's log leaves out, so that the evidence
// contradicts itself. Package adversary tests what becomes of them.
var unlogged = []string{"empty-uri-last", "space-behind"}

// Attack adds the requests of an adversary. Its victims are some identities that each
// inbound lets in. For each victim it adds the certificates of package adversary, which look
// like the victim's, each with a request that the victim may make. If the policies deny such
// a caller, the request must not be served, whether mTLS or a policy keeps the caller out.
// Attack returns the number of requests.
func (p *Proof) Attack() int {
	before := len(p.asked)
	for i, in := range p.Inbounds {
		var victims []string
		for class, c := range in.Cover.Classes {
			if len(c.Witness.URIs) != 1 || len(victims) == mostVictims || in.Decide(c.Witness).Effect != policy.Allow {
				continue
			}
			victim, err := spiffeid.FromString(c.Witness.URIs[0])
			if err != nil || slices.Contains(victims, victim.String()) {
				continue
			}
			victims = append(victims, victim.String())
			p.impersonate(i, class, victim)
		}
	}
	return len(p.asked) - before
}

// impersonate adds the requests of one victim.
func (p *Proof) impersonate(i, class int, victim spiffeid.ID) {
	in := p.Inbounds[i]
	for _, id := range adversary.Identities(victim) {
		r := in.Cover.Classes[class].Witness
		r.URIs, r.DNS = id.Template.URIs, id.Template.DNS
		if slices.Contains(unlogged, id.Name) || in.Decide(r).Effect == policy.Allow {
			continue
		}
		q := cases.Request{
			From: cases.Caller{Name: id.Name + " as " + victim.String(), Template: id.Template, SignedBy: id.SignedBy},
			To:   in.String(), SNI: r.SNI, SourceIP: r.Source, Method: r.Method, Path: r.Path, Authority: r.Host, Headers: r.Headers, Want: cases.Refused,
		}
		p.add(q, ask{inbound: i, class: classes.Unclassed, request: r})
	}
}
