// Package routeproof makes statements about all requests that workloads send: it cuts the requests
// to each outbound into classes that the routes decide alike, and asks for one request of each
// class, and for requests on the border of a class, through the sidecar of the sender.
//
// [Plan] makes a case of the routes, timeouts, services and Dataplanes of files. A runner holds it
// against a real Envoy like any other case, and [Proof.Judge] draws the verdict from the result.
// The package guarantees that no class is left out. It waits for short limits on the time of a
// request, and names the others. It decides nothing itself: package routeverdict says what
// must become of a request.
package routeproof

import (
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Proof is a case that asks for every class of requests to the outbounds of one workload.
type Proof struct {
	lab.Case
	// Senders are the names of all workloads with this outbound side: the first is asked.
	Senders   []string
	Outbounds []Outbound
	// Mismatches has what has no effect on any workload.
	Mismatches []routing.Ignored
	// Waited counts the limits that a request waits for. NotWaited are those that none does.
	Waited    int
	NotWaited []string
	// asked says of each request of the case which outbound and class it is of.
	asked []ask
}

// Outbound is one outbound with the classes of its requests.
type Outbound struct {
	routing.Outbound
	Cover *classes.Cover
}

// ask is where a request of a proof comes from.
type ask struct {
	// class is [classes.Unclassed] for a request of no class.
	outbound, class int
}

// mostBordered is the number of classes of an outbound whose neighbours are asked for.
const mostBordered = 256

// Plan returns a proof for each outbound side that a workload has. Workloads with the same outbound
// side are asked once: which callers the inbounds let in is the business of package proof. It
// returns none for files without routes, timeouts and services, and where an inbound is chosen.
func Plan(files *lab.Files, s lab.Surroundings, to string) ([]*Proof, lab.Population, error) {
	if to != "" {
		return nil, lab.Population{}, nil
	}
	senders, population, err := files.SendersInFull(s)
	if err != nil {
		return nil, population, err
	}
	var out []*Proof
	known := map[string]*Proof{}
	for _, sender := range senders {
		key := sender.Workload.Workload.Mesh + "\n" + sender.Proxy.String()
		if p := known[key]; p != nil {
			p.Senders = append(p.Senders, sender.Workload.Workload.Name)
			continue
		}
		c, err := files.SenderCase(s, sender)
		if err != nil {
			return nil, population, err
		}
		p := &Proof{Case: c, Senders: []string{sender.Workload.Workload.Name}, Mismatches: sender.Mismatches}
		for _, o := range sender.Outbounds {
			p.ask(sender, o)
		}
		known[key] = p
		if len(p.asked) > 0 {
			out = append(out, p)
		}
	}
	return out, population, nil
}

// ask adds the requests to one outbound, none twice: a witness of each class, the neighbours, and
// one request for each mistake that none of these shows.
func (p *Proof) ask(sender lab.Sender, o routing.Outbound) {
	in := Outbound{o, routeclasses.Of(o)}
	p.Outbounds = append(p.Outbounds, in)
	asked := map[string]bool{}
	var requests []policy.Request
	add := func(r policy.Request, class int) {
		r = requestOf(r)
		key := fmt.Sprintf("%#v", r)
		if asked[key] {
			return
		}
		asked[key], requests = true, append(requests, r)
		p.asked = append(p.asked, ask{len(p.Outbounds) - 1, class})
		p.Passages = append(p.Passages, casefile.Passage{
			Place: fmt.Sprintf("request %d to %s", len(requests), o.Service), From: p.Senders[0], To: o.Name, Method: r.Method, Path: r.Path, Headers: r.Headers,
		})
	}
	for i, c := range in.Cover.Classes {
		add(c.Witness, i)
	}
	for i := range in.Cover.Classes[:min(len(in.Cover.Classes), mostBordered)] {
		for _, n := range in.Cover.Neighbours(i) {
			add(n.Request, n.Class)
		}
	}
	p.wait(sender, in)
	if len(in.Cover.Classes) > mostBordered {
		return
	}
	only := routing.Proxy{Outbounds: []routing.Outbound{o}, Clusters: sender.Clusters}
	for _, m := range mistake.OfSidecar(only) {
		r, ok := m.Shown(only)
		if !ok || shownBy(m, only, o.Name, requests) {
			continue
		}
		class, known := in.Cover.Locate(r)
		if !known {
			class = classes.Unclassed
		}
		add(r, class)
	}
}

func shownBy(m mistake.Sidecar, original routing.Proxy, outbound string, requests []policy.Request) bool {
	for _, r := range requests {
		if m.Changes(original, outbound, r) {
			return true
		}
	}
	return false
}

// requestOf leaves a request what its sender says to a sidecar: no name of a caller.
func requestOf(r policy.Request) policy.Request {
	return policy.Request{Method: r.Method, Path: r.Path, Headers: r.Headers}
}

// Cases are the cases of proofs.
func Cases(proofs []*Proof) []cases.Case {
	out := make([]cases.Case, len(proofs))
	for i, p := range proofs {
		out[i] = p.Case.Case
	}
	return out
}

// NewReport judges proofs by the results of their cases. It returns nil for no proof of anything.
func NewReport(envoy string, strict bool, proofs []*Proof, population lab.Population, results []result.Case) *Report {
	out := &Report{Envoy: envoy, Strict: strict, Unasked: population.NotAsked(), Truncated: population.Truncated}
	for i, p := range proofs {
		out.Verdicts = append(out.Verdicts, p.Judge(results[i]))
		if i == 0 {
			for _, m := range p.Mismatches {
				out.Warnings = append(out.Warnings, m.String())
			}
		}
	}
	if len(out.Verdicts)+len(out.Unasked) == 0 {
		return nil
	}
	return out
}
