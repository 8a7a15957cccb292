package proof

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Verdict says how many classes Envoy decided as specified.
type Verdict struct {
	Inbounds []InboundVerdict
	// Err says why the proof as a whole failed: Envoy took no configuration, counters
	// do not add up.
	Err error
	// Disagreements are the requests that were not decided as specified.
	Disagreements []result.Request
}

// InboundVerdict is what was proven of one inbound.
type InboundVerdict struct {
	Inbound Inbound
	Classes []Class
	// Requests counts all requests to the inbound, neighbours included.
	Requests int
	// Rules are the rules of the inbound, in order.
	Rules []Rule
}

// Class is one class of requests, and what became of its requests.
type Class struct {
	// Text says which requests are of the class.
	Text string
	// Decision is the oracle's decision of all of them.
	Decision policy.Decision
	Witness  result.Request
	// Requests counts the requests of the class that were sent.
	Requests int
	// Proven is false where one of them was not decided as specified.
	Proven bool
}

// Judge draws the verdict from what became of the proof's case.
func (p *Proof) Judge(r result.Case) Verdict {
	v := Verdict{Err: errors.Join(r.Err, p.crossCheck()), Inbounds: make([]InboundVerdict, len(p.Inbounds))}
	for i, in := range p.Inbounds {
		out := InboundVerdict{Inbound: in, Classes: make([]Class, len(in.Cover.Classes)), Rules: p.rules(i)}
		for n, c := range in.Cover.Classes {
			out.Classes[n] = Class{Text: c.String(), Decision: in.Decide(c.Witness)}
		}
		v.Inbounds[i] = out
	}
	for n, q := range r.Requests {
		from := p.asked[n]
		in := &v.Inbounds[from.inbound]
		in.Requests++
		if len(q.Problems) > 0 {
			v.Disagreements = append(v.Disagreements, q)
		}
		if from.class == classes.Unclassed {
			continue
		}
		c := &in.Classes[from.class]
		// The witness is asked first.
		if c.Requests++; c.Requests == 1 {
			c.Witness, c.Proven = q, true
		}
		c.Proven = c.Proven && len(q.Problems) == 0
	}
	return v
}

// Counts returns how many classes were proven, and how many there are.
func (v Verdict) Counts() (proven, of int) {
	for _, in := range v.Inbounds {
		for _, c := range in.Classes {
			of++
			if c.Proven && v.Err == nil {
				proven++
			}
		}
	}
	return proven, of
}

// Unasked counts the classes without a sent request.
func (v Verdict) Unasked() int {
	n := 0
	for _, in := range v.Inbounds {
		for _, c := range in.Classes {
			if c.Requests == 0 {
				n++
			}
		}
	}
	return n
}

// Complete reports whether the covers of all inbounds are complete.
func (v Verdict) Complete() bool {
	return !slices.ContainsFunc(v.Inbounds, func(in InboundVerdict) bool { return !in.Inbound.Cover.Complete() })
}

// Holds reports whether every request was asked about, and decided as specified. A sampled
// cover does not hold.
func (v Verdict) Holds() bool {
	proven, of := v.Counts()
	return v.Err == nil && proven == of && len(v.Disagreements) == 0 && v.Complete()
}

// Sentence says in one what was proven.
func Sentence(proven, of int, complete bool, envoy string) string {
	cover := "cover complete"
	if !complete {
		cover = "cover sampled"
	}
	return fmt.Sprintf("%s of %s request classes decided as specified on Envoy %s; %s", terminal.Number(proven), terminal.Number(of), envoy, cover)
}

// Grid is the truth table of an inbound: the callers of all witnesses by the requests of all
// witnesses.
type Grid struct {
	Callers, Requests []string
	// Cells has a row for each caller.
	Cells [][]Cell
}

// Cell is how one caller's request is decided. Where there are thousands of cells, not each
// was asked for itself, but its class was.
type Cell struct {
	Decision policy.Decision
	// Class is the class of the request. Asked and Proven say whether a request of the
	// class was sent, and whether the class is proven.
	Class         int
	Asked, Proven bool
}

// Grid draws the truth table. A caller without a name is called "anonymous".
func (v InboundVerdict) Grid() Grid {
	callers, requests := axes(v.Inbound.Cover)
	var g Grid
	for _, request := range requests {
		g.Requests = append(g.Requests, title(request))
	}
	for _, caller := range callers {
		g.Callers = append(g.Callers, verdict.CallerName(caller))
		var row []Cell
		for _, request := range requests {
			r := verdict.AskedBy(request, caller)
			cell := Cell{Decision: v.Inbound.Decide(r), Class: classes.Unclassed}
			if class, ok := v.Inbound.Cover.Locate(r); ok {
				cell.Class, cell.Asked, cell.Proven = class, v.Classes[class].Requests > 0, v.Classes[class].Proven
			}
			row = append(row, cell)
		}
		g.Cells = append(g.Cells, row)
	}
	return g
}

// requestKey tells requests of different text apart.
func requestKey(r policy.Request) string { return fmt.Sprintf("%#v", r) }

// title names a request in a column of the table.
func title(r policy.Request) string {
	text := "connection"
	if r.Path != "" {
		text = r.Method + " " + r.Path
	}
	return text + servername.Clause(r.SNI) + token.Clause(token.FromClaims(r.Others)) + endpoint.Clause(r.Source, netip.Addr{}) + requestline.HeaderClause(r.Host, r.Headers)
}
