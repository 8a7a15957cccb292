package routediff

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routelint"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Side is one of the two sets of policies.
type Side struct {
	*lab.Files
	lab.Surroundings
}

// Difference is the effect of a change of routes and timeouts.
type Difference struct {
	Senders []Sender
	// Services are the services of both sides with something else behind them.
	Services []ClusterChange
	// Uncompared say what has changed and is not read: bounds on the requests that a workload gets,
	// and policies of other kinds about what it sends, such as a MeshRetry.
	Uncompared []string
	// Unasked are the policies that are asked on no workload. Truncated says that there are more
	// pairs of targets than workloads were made for.
	Unasked   []lab.Unasked
	Truncated bool
	// Warnings say what of NEW has no effect on any workload.
	Warnings []routing.Ignored
	// Envoy is the version that showed the changes, empty before [Difference.Confirm].
	Envoy string
}

// OfCases compares the routes and timeouts of a case before and after, on the workloads that it states.
func OfCases(old, recent cases.Case) (*Difference, error) {
	was, is := lab.MeshOf(old), lab.MeshOf(recent)
	d, err := Diff(Side{was.Files, was.Surroundings}, Side{is.Files, is.Surroundings})
	if d == nil || err != nil {
		return nil, err
	}
	for i := range d.Senders {
		d.Senders[i].Case = recent.Name
	}
	for i := range d.Services {
		d.Services[i].Case = recent.Name
	}
	return d, nil
}

// Join puts differences into one; a nil one is none.
func Join(all ...*Difference) (out *Difference) {
	for _, d := range all {
		switch {
		case d == nil:
		case out == nil:
			joined := *d
			out = &joined
		default:
			out.Senders, out.Services = append(out.Senders, d.Senders...), append(out.Services, d.Services...)
			out.Uncompared, out.Unasked = append(out.Uncompared, d.Uncompared...), append(out.Unasked, d.Unasked...)
			out.Warnings, out.Truncated = append(out.Warnings, d.Warnings...), out.Truncated || d.Truncated
		}
	}
	return out
}

// Sender has the differences of the workloads with one outbound side before, and one after.
type Sender struct {
	// Case is the case that states the workloads; empty for those of files outside of cases.
	Case string
	// Names are the names of the workloads. Made says why some of them were made.
	Names []string
	Made  []string
	// Outbounds are the outbounds of one side only, and those that are another thing than before.
	Outbounds   []string
	Comparisons []Comparison
	Clusters    []ClusterChange

	old, recent            Side
	oldInbound, newInbound policy.Inbound
	asked                  *confirmation
	results                []result.Case
}

// Diff compares the routes and timeouts of two sides. It returns nil where neither side has any. It
// compares them on the Dataplanes of NEW, or on those of OLD where NEW has none, and on a workload
// that is made for each policy, and for each two policies, that select none of these. The error
// joins those of refused policies.
func Diff(old, recent Side) (*Difference, error) {
	was, errOld := old.ParseRouting(old.Surroundings)
	is, errNew := recent.ParseRouting(recent.Surroundings)
	if err := errors.Join(errOld, errNew); err != nil || was == nil && is == nil {
		return nil, err
	}
	stated := recent.StateCase() || old.StateCase()
	workloads, former := recent.Workloads(), old.Workloads()
	switch {
	case len(workloads) == 0 && len(former) == 0:
		workloads = []policy.Inbound{recent.Inbound}
	case len(workloads) == 0:
		workloads = former
	}
	population := lab.PopulateSenders(recent.Inbound,
		lab.RoutingSet{Routing: was, Described: former, Changed: changed(old, recent)},
		lab.RoutingSet{Routing: is, Described: recent.Workloads(), Changed: changed(recent, old)})
	out := &Difference{Unasked: population.Unasked, Truncated: population.Truncated && !stated}
	if is != nil && len(recent.Workloads()) > 0 {
		out.Warnings = is.Mismatches(workloads)
		out.Warnings = append(slices.Clip(out.Warnings), routelint.Idle(is, workloads, out.Warnings)...)
	}
	groups := senderGroups{Difference: out, old: old, recent: recent, was: was, is: is, workloads: workloads, index: map[string]int{}}
	for _, p := range pairs(former, workloads) {
		groups.add(p[0], p[1])
	}
	for _, m := range population.Made {
		switch {
		case !m.Changed:
		case stated:
			// A case has no other workloads, so that no two policies can meet on one.
			if len(m.Policies) == 1 {
				out.Unasked = append(out.Unasked, lab.Unasked{Policy: m.Policies[0], Place: recent.Name, Reason: "it selects no workload of the case"})
			}
		default:
			s := groups.add(m.Inbound, m.Inbound)
			s.Made = append(s.Made, m.Workload.Name+": "+m.String())
		}
	}
	asked := slices.Concat(workloads, former)
	for _, m := range population.Made {
		if m.Changed && !stated {
			asked = append(asked, m.Inbound)
		}
	}
	out.compareUnroutable(old, recent, was, asked)
	out.compareUnroutable(recent, old, is, asked)
	out.compareReach(old, recent)
	out.compareDefinitions(was, is)
	out.compareUnread(old.Others, recent.Others)
	out.compareInbounds(was, is, inboundsOf(old), inboundsOf(recent))
	return out, nil
}

// senderGroups adds the senders of two sides to a difference.
type senderGroups struct {
	*Difference
	old, recent Side
	// was and is are the routes and timeouts of the sides.
	was, is capability.Routing
	// workloads are those that names are chosen among.
	workloads []policy.Inbound
	// index is that of each sender, by its outbound sides.
	index map[string]int
}

// add compares the requests of a workload before with those of one after, and returns their sender: workloads with the
// same outbound sides share one.
func (g senderGroups) add(before, after policy.Inbound) *Sender {
	outOld, outNew := outboundsOf(g.was, before), outboundsOf(g.is, after)
	key := outOld.String() + outNew.String()
	i, ok := g.index[key]
	if !ok {
		i, g.index[key] = len(g.Senders), len(g.Senders)
		s := compareSides(outOld, outNew)
		s.oldInbound, s.newInbound, s.old, s.recent = before, after, g.old, g.recent
		g.Senders = append(g.Senders, s)
		for _, compared := range s.Comparisons {
			for _, text := range compared.Unsendable {
				if !slices.Contains(g.Uncompared, text) {
					g.Uncompared = append(g.Uncompared, text)
				}
			}
		}
	}
	name := lab.NameAmong(g.workloads, after.Workload)
	if !sameWorkload(before, after) {
		name += " (" + formerly(before.Workload, after.Workload) + ")"
	}
	s := &g.Senders[i]
	if !slices.Contains(s.Names, name) {
		s.Names = append(s.Names, name)
	}
	return s
}

// compareUnroutable names the changed routes and timeouts of a side that are about no request of the
// workloads, and its workloads of which nobody knows what selects them.
func (d *Difference) compareUnroutable(side, other Side, set capability.Routing, workloads []policy.Inbound) {
	if set == nil {
		return
	}
	theirs, same := flows(other.Routing)
	mine, _ := flows(side.Routing)
	sameServices := maps.Equal(mine, theirs)
	docs := slices.DeleteFunc(slices.Clone(side.Routing), func(doc manifest.Document) bool { return same[doc.Flow()] })
	var senders []lab.Sender
	if len(docs) == 0 && sameServices {
		workloads = nil
	}
	var unproven []lab.Unasked
	for _, w := range workloads {
		proxy, ignored := set.Outbounds(w)
		senders = append(senders, lab.Sender{Workload: w, Proxy: proxy, Ignored: ignored})
		for _, i := range ignored {
			// A service that has changed may be another one of those that a policy may mean.
			if i.Unproven && !sameServices {
				unproven = append(unproven, lab.Unasked{Policy: i.Origin, Place: i.Place, Reason: i.Reason})
			}
		}
	}
	for _, u := range slices.Concat(lab.Unroutable(docs, senders), unproven, side.DividedSenders(set)) {
		if !slices.Contains(d.Unasked, u) {
			d.Unasked = append(d.Unasked, u)
		}
	}
}

// changed reports of a document of a side, by its place, whether the other side does not have it
// as it is. Where a service or an option has changed, each document has.
func changed(side, other Side) func(place string) bool {
	mine, _ := flows(side.Routing)
	theirs, same := flows(other.Routing)
	all := side.Options.Document.Flow() != other.Options.Document.Flow() || !maps.Equal(mine, theirs)
	of := map[string]bool{}
	for _, doc := range side.Routing {
		place := doc.Place("")
		of[place] = of[place] || all || !same[doc.Flow()]
	}
	return func(place string) bool { return of[place] }
}

// flows has the texts of the services, which select no workload that sends, and those of the
// routes and timeouts.
func flows(docs []manifest.Document) (services, selecting map[string]bool) {
	services, selecting = map[string]bool{}, map[string]bool{}
	for _, doc := range docs {
		of := services
		if _, ok := doc.Lookup("spec.to"); ok {
			of = selecting
		}
		of[doc.Flow()] = true
	}
	return services, selecting
}

// outboundsOf returns the outbound side of a workload. A set without any document has none.
func outboundsOf(set capability.Routing, of policy.Inbound) routing.Proxy {
	if set == nil {
		return routing.Proxy{}
	}
	p, _ := set.Outbounds(of)
	return p
}

// compareSides compares the outbound sides of one workload.
func compareSides(old, recent routing.Proxy) Sender {
	var out Sender
	for i := range recent.Outbounds {
		o := &recent.Outbounds[i]
		former := old.Outbound(o.Name)
		switch {
		case former == nil:
			out.Outbounds = append(out.Outbounds, fmt.Sprintf("%s: only in NEW", o.Service))
			continue
		case former.Protocol != o.Protocol:
			out.Outbounds = append(out.Outbounds, fmt.Sprintf("%s: protocol %s → %s", o.Service, former.Protocol, o.Protocol))
		}
		if former.Port != o.Port {
			out.Outbounds = append(out.Outbounds, fmt.Sprintf("%s: port %d → %d", o.Service, former.Port, o.Port))
		}
		if former.Protocol.Layer() == o.Protocol.Layer() {
			out.Comparisons = append(out.Comparisons, compare(former, o))
		}
	}
	for i := range old.Outbounds {
		if o := &old.Outbounds[i]; recent.Outbound(o.Name) == nil {
			out.Outbounds = append(out.Outbounds, fmt.Sprintf("%s: only in OLD", o.Service))
		}
	}
	out.Clusters = compareClusters(old, recent)
	return out
}

// ForgetNames leaves out what concerns nothing but the names of policies and rules.
func (d *Difference) ForgetNames() {
	renamed := func(fields []Field) bool { return kindOf(fields) == Renamed }
	for i := range d.Senders {
		s := &d.Senders[i]
		for k := range s.Comparisons {
			s.Comparisons[k].Changes = slices.DeleteFunc(s.Comparisons[k].Changes, func(c Change) bool { return renamed(c.Fields) })
		}
		s.Clusters = slices.DeleteFunc(s.Clusters, func(c ClusterChange) bool { return renamed(c.Fields) })
	}
}

// counts has the number of changed classes of each kind, and classes how many there are.
func (d *Difference) counts() (of map[Kind]int, classes, outbounds, clusters int) {
	of = map[Kind]int{}
	for _, s := range d.Senders {
		outbounds += len(s.Outbounds)
		clusters += len(s.Clusters)
		for _, c := range s.Comparisons {
			classes += len(c.Cover.Classes)
			for _, change := range c.Changes {
				of[change.Kind()]++
			}
		}
	}
	return of, classes, outbounds, clusters
}

// Changes reports whether anything is treated otherwise.
func (d *Difference) Changes() bool {
	of, _, outbounds, clusters := d.counts()
	return len(of)+outbounds+clusters+len(d.Services)+len(d.Uncompared) > 0
}

// Sampled says of which requests the covers have examples only.
func (d *Difference) Sampled() []string {
	var out []string
	for _, s := range d.Senders {
		for _, c := range s.Comparisons {
			out = append(out, c.Cover.Sampled...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NotVerified says what was not compared.
func (d *Difference) NotVerified() []string {
	var out []string
	for _, u := range d.Unasked {
		if !u.Inert {
			out = append(out, "nothing can be said of "+u.Policy+": "+u.Reason)
		}
	}
	out = append(out, d.Uncompared...)
	if reasons := d.Sampled(); len(reasons) > 0 {
		out = append(out, "the cover of outbound requests is sampled: "+strings.Join(reasons, "; "))
	}
	if d.Truncated {
		out = append(out, "sampled: not each set of routes and timeouts that may select one workload was compared, there are too many")
	}
	return out
}
