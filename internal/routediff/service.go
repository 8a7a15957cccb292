package routediff

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/kinds"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// inboundsOf are all inbounds of a side.
func inboundsOf(s Side) []policy.Inbound { return slices.Concat(s.Inbounds()...) }

// definitionsOf returns the definitions of a set by their subjects and fields.
func definitionsOf(set capability.Routing) map[[2]string]routing.Definition {
	out := map[[2]string]routing.Definition{}
	if set != nil {
		for _, d := range set.Definitions() {
			out[[2]string{d.Identifier, d.Field}] = d
		}
	}
	return out
}

// compareDefinitions compares what the services of both sides say of what is behind them. A
// service of one side only is told of by the outbounds.
func (d *Difference) compareDefinitions(was, is capability.Routing) {
	olds, recents := definitionsOf(was), definitionsOf(is)
	of := map[string][2]bool{}
	keys := map[[2]string]bool{}
	for key := range olds {
		of[key[0]], keys[key] = [2]bool{true, of[key[0]][1]}, true
	}
	for key := range recents {
		of[key[0]], keys[key] = [2]bool{of[key[0]][0], true}, true
	}
	sorted := make([][2]string, 0, len(keys))
	for key := range keys {
		sorted = append(sorted, key)
	}
	slices.SortFunc(sorted, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range sorted {
		old, recent := olds[key], recents[key]
		switch {
		case old.Text == recent.Text:
		case old.Inbound || recent.Inbound:
			place := recent.Place
			if place == "" {
				place = old.Place
			}
			d.Uncompared = append(d.Uncompared, "bounds on the requests that a workload gets are not compared: "+key[0]+" ("+place+": "+key[1]+")")
		case of[key[0]] == [2]bool{true, true}:
			d.addService(key[0], Field{Name: key[1], Old: definitionValue(old), New: definitionValue(recent), kind: Moved})
		}
	}
}

func definitionValue(d routing.Definition) Value {
	if d.Identifier == "" {
		return Value{Text: "absent"}
	}
	return Value{Text: d.Text, Place: d.Place}
}

// compareInbounds compares which inbounds are behind the clusters of both sides: the labels of a
// Dataplane may have changed, and no service.
func (d *Difference) compareInbounds(was, is capability.Routing, olds, recents []policy.Inbound) {
	if was == nil || is == nil || len(olds) == 0 || len(recents) == 0 {
		return
	}
	there := definitionsOf(was)
	for _, port := range is.Definitions() {
		if _, stays := there[[2]string{port.Identifier, port.Field}]; !stays || !port.Port {
			continue
		}
		if old, recent := namesOf(was.InboundsBehind(port.Identifier, olds)), namesOf(is.InboundsBehind(port.Identifier, recents)); old != recent {
			d.addService(port.Identifier, Field{Name: "inbounds", Old: Value{Text: old}, New: Value{Text: recent, Place: port.Place}, kind: Moved})
		}
	}
}

func namesOf(inbounds []policy.Inbound) string {
	if len(inbounds) == 0 {
		return "none"
	}
	var names []string
	for _, in := range inbounds {
		name := in.String()
		if in.Workload.Namespace != "" {
			name = in.Workload.Namespace + "/" + name
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// compareUnread tells of documents of one side only that are not read, and are about what workloads send, or
// limit or change what becomes of the requests that workloads get, as a MeshFaultInjection does.
func (d *Difference) compareUnread(olds, recents kinds.Others) {
	wasThere, isThere := textsOf(olds), textsOf(recents)
	for _, doc := range slices.Concat(olds, recents) {
		_, sends := doc.Lookup("spec.to")
		switch {
		case wasThere[doc.Flow()] == isThere[doc.Flow()]:
		case sends:
			d.Uncompared = append(d.Uncompared, "requests that a workload sends are not compared by "+doc.Place("")+" ("+kinds.Others{doc}.String()+"), which is not read")
		case limitsInbounds(doc):
			d.Uncompared = append(d.Uncompared, "requests that a workload gets are not compared by "+doc.Place("")+" ("+kinds.Others{doc}.String()+"), which is not read")
		}
	}
}

func textsOf(docs []manifest.Document) map[string]bool {
	out := map[string]bool{}
	for _, doc := range docs {
		out[doc.Flow()] = true
	}
	return out
}

// limitsInbounds reports whether a document is a policy of Kuma about the requests that a workload gets.
func limitsInbounds(doc manifest.Document) bool {
	if head := doc.Type(); head.Type == "" && !strings.HasPrefix(head.APIVersion, "kuma.io/") {
		return false
	}
	_, legacy := doc.Lookup("spec.from")
	_, rules := doc.Lookup("spec.rules")
	return legacy || rules
}

// compareReach tells of Dataplanes of both sides that say otherwise than before which services their
// sidecars reach, or which of their inbounds are ready.
func (d *Difference) compareReach(old, recent Side) {
	was, is := map[string]routing.Ignored{}, map[string]routing.Ignored{}
	for _, i := range old.UnreadReach() {
		was[i.Origin] = i
	}
	for _, i := range recent.UnreadReach() {
		is[i.Origin] = i
	}
	places := map[string]string{}
	for origin, i := range was {
		places[origin] = i.Place
	}
	for origin, i := range is {
		places[origin] = i.Place
	}
	for _, origin := range slices.Sorted(maps.Keys(places)) {
		if old.Describes(origin) && recent.Describes(origin) && was[origin].Reason != is[origin].Reason {
			d.Uncompared = append(d.Uncompared, "requests that a workload sends are not compared by "+places[origin]+": which services its sidecar reaches, or which of its inbounds are ready, is not read")
		}
	}
}

func (d *Difference) addService(name string, f Field) {
	i := slices.IndexFunc(d.Services, func(c ClusterChange) bool { return c.Cluster == name })
	if i < 0 {
		i, d.Services = len(d.Services), append(d.Services, ClusterChange{Cluster: name})
	}
	d.Services[i].Fields = append(d.Services[i].Fields, f)
}
