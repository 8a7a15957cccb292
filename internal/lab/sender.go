package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Sender is a workload with what routes and timeouts make of its sidecar.
type Sender struct {
	// Workload is as [capability.Routing.Outbounds] takes it.
	Workload policy.Inbound
	Identity spiffeid.ID
	Routing  capability.Routing
	routing.Proxy
	// Ignored is what has no effect on the workload, and Mismatches what has none on any.
	Ignored, Mismatches []routing.Ignored
	// Made says what the workload is, and for which policies it was made; empty where it is
	// described.
	Made string
}

// TakeRouting moves the routes, timeouts and services from Others to Routing.
func (f *Files) TakeRouting() {
	reads := func(doc manifest.Document) bool { return dialects.RouterOf(doc) != nil }
	for _, doc := range f.Others {
		if reads(doc) {
			f.Routing = append(f.Routing, doc)
		}
	}
	f.Others = slices.DeleteFunc(f.Others, reads)
}

// ParseRouting reads the routes, timeouts and services of the files; nil where there is none.
func (f *Files) ParseRouting(s Surroundings) (capability.Routing, error) {
	if len(f.Routing) == 0 {
		return nil, nil
	}
	return dialects.RouterOf(f.Routing[0]).ParseRouting(f.Routing, s.Options)
}

// NamesOutbound reports whether a text can name an outbound, and no inbound: a kind begins with a
// capital letter, and no name of a workload does.
func NamesOutbound(to string) bool {
	return strings.Contains(to, ":") || strings.HasPrefix(to, "kri_") || to != "" && to[0] >= 'A' && to[0] <= 'Z'
}

// Workloads are all Dataplanes, as policies about what they send see them.
func (f *Files) Workloads() []policy.Inbound { return f.workloads }

// Senders returns the workloads that send requests: all Dataplanes, or else the workload of the
// surroundings. It returns none for files without routes, timeouts and services.
func (f *Files) Senders(s Surroundings) ([]Sender, error) {
	workloads := f.workloads
	if len(workloads) == 0 {
		workloads = []policy.Inbound{s.Inbound}
	}
	return f.senders(s, workloads, nil)
}

// Sender returns what the routes and timeouts make of the sidecar of one workload: no outbound where
// there are none.
func (f *Files) Sender(s Surroundings, workload policy.Inbound) (Sender, error) {
	all, err := f.senders(s, []policy.Inbound{workload}, nil)
	if err != nil || len(all) == 0 {
		return Sender{Workload: workload}, err
	}
	return all[0], nil
}

// SendersInFull returns the senders of [Files.Senders], and those that are made for the policies
// that select none of them.
func (f *Files) SendersInFull(s Surroundings) ([]Sender, Population, error) {
	set, err := f.ParseRouting(s)
	if err != nil || set == nil {
		return nil, Population{}, err
	}
	all, err := f.Senders(s)
	if err != nil {
		return nil, Population{}, err
	}
	if f.stated != nil {
		// A case may show that something has no effect, and not that a name is missing.
		var population Population
		population.Unasked = Unroutable(f.Routing, all)
		return all, population, nil
	}
	population := PopulateSenders(s.Inbound, RoutingSet{Routing: set, Described: f.workloads})
	var workloads []policy.Inbound
	for _, m := range population.Made {
		workloads = append(workloads, m.Inbound)
	}
	made, err := f.senders(s, workloads, population.Made)
	all = append(all, made...)
	unasked, ignored := f.withoutRequests(all)
	population.Unasked = slices.Concat(population.Unasked, unasked, f.DividedSenders(set), f.bareSenders(set))
	ignored = append(ignored, f.UnreadReach()...)
	for i := range all {
		all[i].Mismatches = append(all[i].Mismatches[:len(all[i].Mismatches):len(all[i].Mismatches)], ignored...)
	}
	return all, population, err
}

// ofAll returns what has no effect on any of the senders: the item itself, or the whole policy. What
// names something that is missing has none wherever the policy applies.
func ofAll(senders []Sender) (out []routing.Ignored) {
	// An item has no effect on a workload by itself, or because the whole policy has none.
	ignored := map[string]int{}
	for _, sender := range senders {
		places := map[string]bool{}
		for _, i := range sender.Ignored {
			places[i.Place] = true
		}
		for place := range places {
			ignored[place]++
		}
	}
	known := map[string]bool{}
	for _, sender := range senders {
		for _, i := range sender.Ignored {
			n := ignored[i.Place]
			if i.Policy != "" && i.Policy != i.Place {
				n += ignored[i.Policy]
			}
			if !known[i.Place] && (i.Missing || i.Unproven || n >= len(senders)) {
				known[i.Place] = true
				out = append(out, i)
			}
		}
	}
	return out
}

// senders returns what the routes and timeouts make of the sidecars of workloads. Made says of
// each of them why it was made; nil where they are described.
func (f *Files) senders(s Surroundings, workloads []policy.Inbound, made []Made) ([]Sender, error) {
	set, err := f.ParseRouting(s)
	if err != nil || set == nil {
		return nil, err
	}
	mismatches := set.Mismatches(nil)
	if len(f.workloads) > 0 && made == nil {
		inbounds := slices.Concat(f.Inbounds()...)
		mismatches = append(set.Mismatches(workloads), idleServices(set, inbounds)...)
		mismatches = append(mismatches, set.Strangers(inbounds, func(w policy.Workload) string {
			id, _ := f.identityOf(s.trustDomain(), w)
			return id.String()
		})...)
	}
	out := make([]Sender, len(workloads))
	for i, w := range workloads {
		out[i] = Sender{Workload: w, Routing: set, Mismatches: mismatches}
		if made != nil {
			out[i].Made = made[i].String()
		}
		if out[i].Identity, err = f.identityOf(s.trustDomain(), w.Workload); err != nil {
			return nil, err
		}
		out[i].Proxy, out[i].Ignored = set.Outbounds(w)
		// What has no effect on any workload has none on this one.
		out[i].Ignored = slices.DeleteFunc(out[i].Ignored, func(i routing.Ignored) bool {
			return slices.ContainsFunc(mismatches, func(m routing.Ignored) bool { return m.Place == i.Place })
		})
	}
	return out, nil
}

// idleServices returns the ports of services with none of the inbounds behind them. Where no inbound
// is described, nothing can be said.
func idleServices(set capability.Routing, inbounds []policy.Inbound) (out []routing.Ignored) {
	for _, d := range set.Definitions() {
		if d.Port && len(inbounds) > 0 && len(set.InboundsBehind(d.Identifier, inbounds)) == 0 {
			out = append(out, routing.Ignored{Origin: d.Identifier, Place: d.Place, Kind: warning.SelectsNothing, Reason: "none of the inbounds is behind it: its requests are answered 503, or the Dataplanes behind it are not in the files"})
		}
	}
	return out
}

// Describes reports whether a Dataplane of this identifier is described.
func (f *Files) Describes(origin string) bool {
	return slices.ContainsFunc(f.described, func(d *dataplane.Dataplane) bool { return d.ID().String() == origin })
}

// SenderCase returns a case without requests in which a workload can send some: with the inbounds
// behind its outbounds, and with its own first inbound where it has one.
func (f *Files) SenderCase(s Surroundings, sender Sender) (Case, error) {
	if f.stated != nil {
		return f.withoutClaims(sender), nil
	}
	var inbounds []policy.Inbound
	add := func(all ...policy.Inbound) {
		for _, in := range all {
			if !slices.ContainsFunc(inbounds, func(known policy.Inbound) bool {
				return known.Section() == in.Section() && dataplane.IsOneWorkload(known.Workload, in.Workload)
			}) {
				inbounds = append(inbounds, in)
			}
		}
	}
	if sender.Workload.Port > 0 {
		add(sender.Workload)
	}
	for _, cluster := range sender.Clusters {
		add(sender.Routing.InboundsBehind(cluster.Name, slices.Concat(f.Inbounds()...))...)
	}
	named, err := f.distinctNames(s, sender, inbounds)
	if err != nil {
		return Case{}, err
	}
	c, err := f.newCase(s, f.Name+": requests of "+sender.Workload.Workload.Name, named)
	if err != nil {
		return Case{}, err
	}
	for i, in := range inbounds {
		if c.Inbounds[i].Identity, err = identityOf(s.trustDomain(), in.Workload); err != nil {
			return Case{}, err
		}
	}
	peer := sender.peer()
	if sender.Workload.Port > 0 {
		peer.IP = c.Inbounds[0].IP
	}
	c.Options.Peers, c.Routing = append(slices.Clone(c.Options.Peers), peer), f.Routing
	return c, nil
}

// peer is a sender with an address that no inbound has.
func (s Sender) peer() language.Peer {
	return language.Peer{Workload: s.Workload.Workload, Identity: s.Identity, IP: netip.AddrFrom4([4]byte{10, 66, 0, 1})}
}

// RoutingSet is a set of routes and timeouts, with the workloads that are described for it.
// Changed is as for [PolicySet].
type RoutingSet struct {
	capability.Routing
	Described []policy.Inbound
	Changed   func(place string) bool
}

// PopulateSenders makes a workload for each distinct target of the sets as [Populate] does. A set
// without routes has no targets.
func PopulateSenders(like policy.Inbound, sets ...RoutingSet) Population {
	all := make([]PolicySet, len(sets))
	for i, s := range sets {
		all[i] = PolicySet{Policies: senderTargets{routing: s.Routing}, Described: s.Described, Changed: s.Changed}
	}
	return Populate(like, all...)
}

// senderTargets stands for policies in a set of which the targets alone count.
type senderTargets struct {
	language.Policies
	routing capability.Routing
}

// Targets implements [capability.Targeter].
func (t senderTargets) Targets() []capability.Target {
	if t.routing == nil {
		return nil
	}
	return t.routing.Targets()
}

// Program implements [language.Policies]: nothing is decided about the requests that a workload
// gets.
func (senderTargets) Program(policy.Inbound) language.Program { return language.Program{} }

// FindSender returns the one sender of a name or a SPIFFE ID. The error lists the senders.
func FindSender(all []Sender, from string) (Sender, error) {
	var found []Sender
	var names []string
	for _, s := range all {
		names = append(names, s.Workload.Workload.Name)
		if s.Workload.Workload.Name == from || s.Identity.String() == from {
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		names = nil
		for _, s := range found {
			names = append(names, s.Identity.String())
		}
		return Sender{}, fmt.Errorf("%q may mean %d workloads: use one of %s", from, len(found), strings.Join(names, ", "))
	}
	return Sender{}, fmt.Errorf("%q is no workload that sends requests: use one of %s", from, strings.Join(names, ", "))
}
