// Package routediff finds the effects of a change of routes and timeouts: which requests of a
// workload go elsewhere, and which may wait longer or less long.
//
// It guarantees that no change is passed over: an outbound without a counterpart is named, a
// policy that is asked on no workload is named, and each class of requests that both sets do not
// treat alike is listed, with each value before and after and the field that it comes from. It
// reads no flags and asks no Envoy.
package routediff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/routeclasses"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// Kind is the effect of a change.
type Kind uint8

// The kinds, the most serious first.
const (
	// Moved requests go to other backends, or in other shares, or are answered by the sidecar.
	Moved Kind = iota
	// Longer requests may take more time in one respect at least.
	Longer
	// Shorter requests may take less time.
	Shorter
	// Renamed requests are treated alike, by another policy or another rule.
	Renamed
)

var kindNames = [...]string{Moved: "moved", Longer: "longer", Shorter: "shorter", Renamed: "renamed"}

// String returns one word.
func (k Kind) String() string { return kindNames[k] }

// Field is one thing that differs.
type Field struct {
	Name string `json:"name"`
	Old  Value  `json:"old"`
	New  Value  `json:"new"`

	kind Kind
	// limits are the times of a limit that differ; nil for another field.
	limits *limits
}

// Value is a value with its origin.
type Value struct {
	Text string `json:"value"`
	// By is the policy of a limit, or "default". Place is "file:line: field"; empty for a default.
	By    string `json:"by,omitempty"`
	Place string `json:"place,omitempty"`
}

// Change is a class of requests that two sets of policies do not treat alike.
type Change struct {
	// Text says which requests are of the class.
	Text string
	// Witness is one of them.
	Witness  policy.Request
	Old, New routing.Decision
	Fields   []Field

	// evidence is nil before [Difference.Confirm].
	evidence *evidence
}

// Kind returns the most serious effect of the change.
func (c Change) Kind() Kind { return kindOf(c.Fields) }

func kindOf(fields []Field) Kind {
	return slices.MinFunc(fields, func(a, b Field) int { return cmp.Compare(a.kind, b.kind) }).kind
}

// Comparison has the differences of one outbound of a workload.
type Comparison struct {
	Old, New *routing.Outbound
	// Cover is the common refinement: each set sends all requests of a class to one route.
	Cover   *classes.Cover
	Changes []Change
	// Unsendable are classes of requests that the lab cannot send and that both sets do not treat alike.
	Unsendable []string
}

// ClusterChange has the differences in the limits of a backend, for all routes to it.
type ClusterChange struct {
	// Case is the case that states the backend; empty for files outside of cases.
	Case    string
	Cluster string
	Fields  []Field

	evidence *evidence
}

// compare compares one outbound before and after. Both are of one layer.
func compare(was, is *routing.Outbound) Comparison {
	out := Comparison{Old: was, New: is, Cover: routeclasses.Cut(*was, *is)}
	for _, class := range out.Cover.Classes {
		c := Change{Text: class.String(), Witness: class.Witness, Old: was.Decide(class.Witness), New: is.Decide(class.Witness)}
		if c.Fields = compareDecisions(was, is, c.Old, c.New); len(c.Fields) > 0 {
			out.Changes = append(out.Changes, c)
		}
	}
	for _, class := range routeclasses.UnsendableClasses(out.Cover, *was, *is) {
		if len(compareDecisions(was, is, was.Decide(class.Witness), is.Decide(class.Witness))) > 0 {
			out.Unsendable = append(out.Unsendable, fmt.Sprintf("requests to %s that the lab cannot send are treated otherwise: %s", is.Service, &class))
		}
	}
	if len(out.Unsendable) == 0 {
		out.Unsendable = compareUnmet(out.Cover, was, is)
	}
	return out
}

// compareUnmet names the rules of one side alone that no request of the lab meets.
func compareUnmet(cover *classes.Cover, was, is *routing.Outbound) (out []string) {
	texts := func(o *routing.Outbound) (all []string) {
		for _, r := range routeclasses.UnmetRoutes(cover, *o) {
			all = append(all, fmt.Sprintf("%s to %v", r.When, r.Backends))
		}
		return all
	}
	olds, recents := texts(was), texts(is)
	for _, sides := range [][2][]string{{olds, recents}, {recents, olds}} {
		for _, text := range sides[0] {
			if !slices.Contains(sides[1], text) {
				out = append(out, fmt.Sprintf("a rule for requests to %s that the lab cannot send differs: %s", is.Service, text))
			}
		}
	}
	return out
}

func compareDecisions(was, is *routing.Outbound, old, recent routing.Decision) (out []Field) {
	if old.Route != recent.Route {
		out = append(out, Field{Name: "route", Old: routeValue(was, old), New: routeValue(is, recent), kind: Renamed})
	}
	if !sameShares(old, recent) {
		out = append(out, Field{Name: "backends", Old: backendsValue(was, old), New: backendsValue(is, recent), kind: Moved})
	}
	for bound := range routing.Bounds {
		isHTTP := is.Protocol.Layer() == policy.L7
		if bound.Level() != routing.OfCluster && isHTTP || bound == routing.Idle && !isHTTP {
			out = append(out, compareLimits(bound, old.Limits[bound], recent.Limits[bound])...)
		}
	}
	return out
}

// compareLimits returns the difference of two limits: of time, or else of origin.
func compareLimits(bound routing.Bound, old, recent routing.Limit) []Field {
	kind := Renamed
	switch {
	case old.Time == recent.Time && old.Origin == recent.Origin:
		return nil
	case old.Time == recent.Time:
	case recent.Time == 0 || old.Time != 0 && recent.Time > old.Time:
		kind = Longer
	default:
		kind = Shorter
	}
	f := Field{Name: bound.String(), Old: limitValue(old), New: limitValue(recent), kind: kind}
	if kind != Renamed {
		f.limits = &limits{bound, old.Time, recent.Time}
	}
	return []Field{f}
}

func limitValue(l routing.Limit) Value {
	text := "no limit"
	if l.Time != 0 {
		text = l.Time.String()
	}
	return Value{text, cmp.Or(l.Origin, "default"), l.Place}
}

// taken returns the route of a decision, nil for none. Several routes may have its name: they are
// of one rule.
func taken(o *routing.Outbound, d routing.Decision) *routing.Route {
	i := slices.IndexFunc(o.Routes, func(r routing.Route) bool { return r.Name == d.Route })
	if i < 0 {
		return nil
	}
	return &o.Routes[i]
}

func routeValue(o *routing.Outbound, d routing.Decision) Value {
	r := taken(o, d)
	if r == nil {
		return Value{Text: "none: 404"}
	}
	return Value{Text: r.Name, Place: r.Place}
}

// shares has the share of each cluster, in parts of the whole.
func shares(d routing.Decision) map[string]uint64 {
	out := map[string]uint64{}
	for _, b := range d.Backends {
		if b.Weight > 0 {
			out[b.Cluster] += uint64(b.Weight)
		}
	}
	return out
}

// sameShares reports whether both decisions send the same share of the requests to each backend.
// Weights of 1 and 3 are those of 2 and 6. A route without a backend is one whose backend does
// not exist; no route at all is a 404.
func sameShares(old, recent routing.Decision) bool {
	if (old.Route == "") != (recent.Route == "") {
		return false
	}
	a, b := shares(old), shares(recent)
	if len(a) == 0 && len(b) > 0 {
		a = map[string]uint64{"": 1}
	}
	if len(b) == 0 && len(a) > 0 {
		b = map[string]uint64{"": 1}
	}
	if len(a) != len(b) {
		return false
	}
	total := func(of map[string]uint64) (n uint64) {
		for _, w := range of {
			n += w
		}
		return n
	}
	// The weights of a route fit into 32 bits together.
	for cluster := range a {
		if a[cluster]*total(b) != b[cluster]*total(a) || b[cluster] == 0 {
			return false
		}
	}
	return true
}

func backendsValue(o *routing.Outbound, d routing.Decision) Value {
	r := taken(o, d)
	switch {
	case r == nil:
		return Value{Text: "none: 404"}
	case len(d.Backends) == 0:
		return Value{Text: "none exists: 500", Place: cmp.Or(r.Sends, r.Place)}
	}
	var parts []string
	for _, b := range d.Backends {
		parts = append(parts, fmt.Sprintf("%s weight %d", cmp.Or(b.Cluster, "does not exist: 500,"), b.Weight))
	}
	return Value{Text: strings.Join(parts, ", "), Place: cmp.Or(r.Sends, r.Place)}
}

// compareClusters compares the backends that both proxies have.
func compareClusters(was, is routing.Proxy) (out []ClusterChange) {
	for _, c := range is.Clusters {
		old := was.Cluster(c.Name)
		if old == nil {
			continue
		}
		change := ClusterChange{Cluster: c.Name}
		if old.Protocol != c.Protocol {
			change.Fields = append(change.Fields, Field{Name: "protocol", Old: Value{Text: old.Protocol.String()}, New: Value{Text: c.Protocol.String()}, kind: Moved})
		}
		for bound := range routing.Bounds {
			if bound.Level() == routing.OfCluster && (c.Protocol.Layer() == policy.L7 || bound == routing.Connection) {
				change.Fields = append(change.Fields, compareLimits(bound, old.Limits[bound], c.Limits[bound])...)
			}
		}
		if len(change.Fields) > 0 {
			out = append(out, change)
		}
	}
	return out
}
