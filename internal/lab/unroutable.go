package lab

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy/manifest"
)

// withoutRequests returns the routes and timeouts that no request can be about, because a service
// or a route is missing that they name, and those that have no effect for other reasons.
func (f *Files) withoutRequests(senders []Sender) (unasked []Unasked, ignored []routing.Ignored) {
	if !slices.ContainsFunc(senders, func(s Sender) bool { return len(s.Outbounds) > 0 }) {
		for _, doc := range f.Routing {
			unasked = append(unasked, withoutService(doc))
		}
		return unasked, nil
	}
	for _, i := range ofAll(senders) {
		if !i.Missing && !i.Unproven {
			ignored = append(ignored, i)
		}
	}
	return Unroutable(f.Routing, senders), ignored
}

// withoutService says that a document is about requests that nobody can send.
func withoutService(doc manifest.Document) Unasked {
	head := doc.Type()
	return Unasked{Policy: cmp.Or(head.Kind, head.Type), Place: doc.Place(""), Reason: "no document describes a service that a workload can send to: add the services"}
}

// Unroutable returns which of the routes and timeouts are about no request of the senders: a service or
// a route that they name is missing, or no workload that they select has a service to send to.
func Unroutable(docs []manifest.Document, senders []Sender) (out []Unasked) {
	// Of each policy: what it names that is missing, and the workloads that it does not select.
	missing, missed, reached := map[string][]Unasked{}, map[string]int{}, map[string]bool{}
	known := map[Unasked]bool{}
	withOutbounds, missedThere := 0, map[string]int{}
	for _, sender := range senders {
		sends := len(sender.Outbounds) > 0
		if sends {
			withOutbounds++
		}
		for _, i := range sender.Ignored {
			if i.Place == i.Policy {
				missed[i.Policy]++
				if sends {
					missedThere[i.Policy]++
				}
			}
			u := Unasked{Policy: i.Origin, Place: i.Place, Reason: i.Reason}
			if i.Missing {
				u.Reason += " among the documents"
			}
			if (i.Missing || i.Unproven) && !known[u] {
				known[u] = true
				missing[i.Policy] = append(missing[i.Policy], u)
			}
		}
	}
	for place, n := range missedThere {
		reached[place] = n < withOutbounds
	}
	for _, doc := range docs {
		if _, sends := doc.Lookup("spec.to"); !sends {
			continue
		}
		place := doc.Place("")
		out = append(out, missing[place]...)
		reaches, ok := reached[place]
		if selected := missed[place] < len(senders); selected && !(reaches || !ok && withOutbounds > 0) {
			out = append(out, withoutService(doc))
		}
	}
	return out
}

// DividedSenders returns the Dataplanes whose inbounds have different tags, by which routes or timeouts
// select the workload or not. It is proven with the tags of its first inbound, and a control plane may
// look at each of them.
func (f *Files) DividedSenders(set capability.Routing) (out []Unasked) {
	for _, d := range f.Dataplanes {
		first, _ := set.Outbounds(d.Inbounds[0])
		for _, in := range d.Inbounds[1:] {
			if other, _ := set.Outbounds(in); other.String() != first.String() {
				out = append(out, Unasked{Policy: "the sidecar of " + d.Workload.Name, Place: d.Place, Reason: fmt.Sprintf("routes or timeouts select it by the tags of %s, and not by those of %s, or the other way round: give all inbounds these tags", d.Inbounds[0], in)})
				break
			}
		}
	}
	return out
}

// bareSenders returns the Dataplanes that routes or timeouts select, and that have no inbound and are no gateway: Kuma
// applies a policy to a Dataplane where it selects one of its inbounds.
func (f *Files) bareSenders(set capability.Routing) (out []Unasked) {
	for _, d := range f.described {
		selects := func(t capability.Target) bool { return t.Selects(d.Caller()) }
		if d.IsBare && slices.ContainsFunc(set.Targets(), selects) {
			out = append(out, Unasked{Policy: "the sidecar of " + d.Workload.Name, Place: d.Place, Reason: "routes or timeouts select it, and Kuma applies none to a Dataplane without an inbound: describe an inbound"})
		}
	}
	return out
}

// UnreadReach returns the Dataplanes that say themselves which services their sidecars reach, that are a
// gateway, or that have an inbound which is not ready. Nothing of it is read but the tags of the gateway.
func (f *Files) UnreadReach() (out []routing.Ignored) {
	for _, d := range f.described {
		if d.Reach != "" {
			out = append(out, routing.Ignored{Origin: d.ID().String(), Place: d.Place, Policy: d.Place, Reason: "who reaches whom is not read there (" + d.Reach + "): its sidecar is taken to reach each service of the mesh, and its inbounds to be ready"})
		}
	}
	return out
}
