// Package routeproof makes statements about all requests that workloads send: it cuts the requests
// to each outbound into classes that the routes decide alike, and asks for one request of each
// class, and for requests on the border of a class, through the sidecar of the sender.
//
// [Plan] makes a case of the routes, timeouts, services and Dataplanes of files. A runner holds it
// against a real Envoy like any other case, and [Proof.Judge] draws the verdict from the result.
// The package guarantees that no class is left out. It waits for each short limit on the time of a
// request or a connection that one can be seen to reach, and names the others. It decides nothing itself: package routeverdict says what
// must become of a request.
package routeproof

import (
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routelint"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Proof is a case that asks for every class of requests to the outbounds of one workload.
type Proof struct {
	lab.Case
	// Senders name all workloads with this outbound side: the first is asked.
	Senders   []string
	Outbounds []Outbound
	// Mismatches has what has no effect on any workload.
	Mismatches []routing.Ignored
	// Waited counts the limits that a request waits for. NotWaited are those that none does.
	Waited    int
	NotWaited []Unseen
	// workload is the name of the workload that is asked.
	workload string
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

// Plan returns a proof for each outbound side that a workload has, of files and of the cases among them.
// Workloads with the same outbound side are asked once: which callers the inbounds let in is the business
// of package proof. It returns none for files without routes, timeouts and services, and where an
// inbound is chosen.
func Plan(files *lab.Files, s lab.Surroundings, to string) (out []*Proof, all lab.Population, err error) {
	if to != "" {
		return nil, all, nil
	}
	for _, mesh := range files.Meshes(s) {
		proofs, population, err := plan(mesh.Files, mesh.Surroundings)
		if err != nil {
			return nil, all, err
		}
		out, all.Unasked, all.Truncated = append(out, proofs...), append(all.Unasked, population.Unasked...), all.Truncated || population.Truncated
	}
	return out, all, nil
}

func plan(files *lab.Files, s lab.Surroundings) ([]*Proof, lab.Population, error) {
	senders, population, err := files.SendersInFull(s)
	if err != nil {
		return nil, population, err
	}
	var workloads []policy.Inbound
	for _, sender := range senders {
		workloads = append(workloads, sender.Workload)
	}
	var out []*Proof
	known := map[string]*Proof{}
	for _, sender := range senders {
		key := sender.Workload.Workload.Mesh + "\n" + sender.Proxy.String()
		if p := known[key]; p != nil {
			p.Senders = append(p.Senders, lab.NameAmong(workloads, sender.Workload.Workload))
			continue
		}
		c, err := files.SenderCase(s, sender)
		if err != nil {
			return nil, population, err
		}
		p := &Proof{Case: c, Senders: []string{lab.NameAmong(workloads, sender.Workload.Workload)}, Mismatches: sender.Mismatches, workload: sender.Workload.Workload.Name}
		for _, o := range sender.Outbounds {
			p.ask(sender.Proxy, o)
			for _, u := range unsendable(o, p.Outbounds[len(p.Outbounds)-1].Cover) {
				if !slices.Contains(population.Unasked, u) {
					population.Unasked = append(population.Unasked, u)
				}
			}
		}
		if err := p.wait(sender); err != nil {
			return nil, population, err
		}
		known[key] = p
		if len(p.asked) > 0 {
			out = append(out, p)
		}
	}
	if len(out) > 0 && !files.StateCase() {
		told := slices.Clone(senders[0].Mismatches)
		for _, u := range population.Unasked {
			told = append(told, routing.Ignored{Origin: u.Policy, Place: u.Place, Missing: true})
		}
		out[0].Mismatches = append(slices.Clip(out[0].Mismatches), routelint.Idle(senders[0].Routing, workloads, told)...)
	}
	if len(out) > 0 {
		for _, w := range rendering.Unrendered(files.Routing) {
			out[0].Mismatches = append(slices.Clip(out[0].Mismatches), routing.Ignored{Origin: w.Policy, Place: w.Place, Kind: w.Kind, Reason: w.Message})
		}
	}
	return out, population, nil
}

// unsendable returns the rules that no request of the lab takes, and that others may.
func unsendable(o routing.Outbound, cover *classes.Cover) (out []lab.Unasked) {
	for _, class := range routeclasses.UnsendableClasses(cover, o) {
		for _, r := range o.Routes {
			if r.When == nil || r.When.Holds(&class.Witness) {
				out = append(out, lab.Unasked{Policy: r.Name, Place: r.Place, Reason: "the lab cannot send the requests that take it: " + class.String()})
				break
			}
		}
	}
	return out
}

// Requests are those of a proof of what one workload sends, as far as the program alone tells: an inbound
// may refuse one that should wait for a limit.
func Requests(sender string, program routing.Proxy) []casefile.RoutedRequest {
	p := &Proof{workload: sender}
	for _, o := range program.Outbounds {
		p.ask(program, o)
	}
	for _, l := range p.limitsOf(program) {
		for _, w := range l.waits {
			w.Place = l.String()
			p.RoutedRequests = append(p.RoutedRequests, w.RoutedRequest)
		}
	}
	return p.RoutedRequests
}

// ask adds the requests to one outbound, none twice: a witness of each class, the neighbours, and
// one request for each mistake that none of these shows.
func (p *Proof) ask(sender routing.Proxy, o routing.Outbound) {
	in := Outbound{o, routeclasses.Cut(o)}
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
		p.RoutedRequests = append(p.RoutedRequests, routeverdict.AsCall(&o, casefile.RoutedRequest{
			Place: fmt.Sprintf("request %d to %s", len(requests), o.Service), From: p.workload, To: o.Name, Method: r.Method, Path: r.Path, Headers: r.Headers,
		}))
	}
	for i, c := range in.Cover.Classes {
		add(c.Witness, i)
	}
	for i := range in.Cover.Classes[:min(len(in.Cover.Classes), mostBordered)] {
		for _, n := range in.Cover.Neighbours(i) {
			add(n.Request, n.Class)
		}
	}
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
		for _, m := range p.Mismatches {
			if text := m.String(); !slices.Contains(out.Warnings, text) {
				out.Warnings = append(out.Warnings, text)
			}
		}
	}
	if len(out.Verdicts)+len(out.Unasked) == 0 {
		return nil
	}
	return out
}
