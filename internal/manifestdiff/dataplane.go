package manifestdiff

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/clusterobject"
	"github.com/meshproof/meshproof/internal/fieldpath"
	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// readOfDataplanes are the fields of a Dataplane that its reader takes, or that cannot matter: what the
// control plane writes, and what concerns other workloads alone.
var readOfDataplanes = fieldpath.SetOf(`type apiVersion kind name mesh labels metadata status creationTime modificationTime kri
	networking.advertisedAddress networking.inbound[].name networking.inbound[].port networking.inbound[].protocol networking.inbound[].tags
	networking.inbound[].health networking.inbound[].serviceProbe
	networking.transparentProxying.reachableServices networking.transparentProxying.reachableBackends
	networking.transparentProxying.directAccessServices`)

// compareDataplanes compares what is not read of the Dataplanes. A new one may open ports by itself. One that
// is gone is compared by its policies.
func (c *comparison) compareDataplanes() (out []Change) {
	before, after := c.oldDataplanes, c.recentDataplanes
	for _, is := range after.All {
		n := len(out)
		if olds := before.ByKey[is.Key]; len(olds) > 0 {
			w := walker{comparison: c, kind: is.Kind, category: clusterobject.Dataplane}
			w.walk("", rootOf(is), plainDataplane(olds[0]), plainDataplane(is))
			out = append(out, w.changes(olds[0], is)...)
			if c.callsAs(olds[0]) != c.callsAs(is) {
				out = append(out, changeOf(is, "has another service, account or label, and may call as somebody else"))
			}
		} else {
			out = append(out, c.openingsOf(is)...)
		}
		c.told.add(is.Key, out[n:])
	}
	for _, was := range before.All {
		if c.symmetric && len(after.ByKey[was.Key]) == 0 {
			found := c.openingsOf(was)
			c.told.add(was.Key, found)
			out = append(out, found...)
		}
	}
	return out
}

// openingsOf names what a Dataplane of one side alone opens: the ports of probes and metrics, and those by
// which it sends requests in its own name.
func (c *comparison) openingsOf(o clusterobject.Object) (out []Change) {
	fields := plainDataplane(o)
	for _, field := range []string{"probes", "metrics"} {
		if fields[field] != nil {
			out = append(out, Change{o.Doc.Place(fieldpath.Join(rootOf(o), field)), o.String(), isAlone})
		}
	}
	if fieldvalue.Lookup(fields, "networking", "outbound") != nil {
		out = append(out, Change{o.Doc.Place(fieldpath.Join(rootOf(o), "networking.outbound")), o.String(), isAlone})
	}
	for _, name := range strings.Fields(c.callsAs(o)) {
		_, value, isLabel := strings.Cut(name, "=")
		if !isLabel {
			value = name
		}
		if value != "<nil>" && c.mayLetIn("", value) {
			return append(out, changeOf(o, "may call as "+value+", whom policies may let in, and the other side does not have it"))
		}
	}
	return out
}

// callsAs has what may give a Dataplane its name as a caller: its services, its account, and the labels that
// a MeshIdentity asks for.
func (c *comparison) callsAs(o clusterobject.Object) string {
	var parts []string
	networking := fieldvalue.Lookup(o.Fields, rootOf(o), "networking")
	for _, in := range append(fieldvalue.Mappings(fieldvalue.Lookup(networking, "inbound")), fieldvalue.Mappings([]any{fieldvalue.Lookup(networking, "gateway")})...) {
		tags := fieldvalue.Mapping(in["tags"])
		for key, value := range tags {
			if key == "kuma.io/service" || c.peers.Has(key) {
				parts = append(parts, fmt.Sprintf("%s=%v", key, value))
			}
		}
	}
	labels := fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "labels"))
	if !o.Universal {
		labels = fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, "metadata", "labels"))
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == "k8s.kuma.io/service-account" || key == "kuma.io/workload" || c.identities.Has(key) {
			parts = append(parts, fmt.Sprintf("%s=%v", key, labels[key]))
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), " ")
}

// rootOf is the field of a Dataplane that has its networking.
func rootOf(o clusterobject.Object) string {
	if o.Universal {
		return ""
	}
	return "spec"
}

// plainDataplane returns the fields of a Dataplane without those that say what Kuma takes anyway. In
// Kubernetes the control plane writes the address. An outbound on loopback serves its own workload.
func plainDataplane(o clusterobject.Object) map[string]any {
	fields := maps.Clone(fieldvalue.Mapping(fieldvalue.Lookup(o.Fields, rootOf(o))))
	networking := maps.Clone(fieldvalue.Mapping(fields["networking"]))
	if networking == nil {
		return fields
	}
	if !o.Universal {
		delete(networking, "address")
	}
	var inbounds, outbounds []any
	for _, in := range fieldvalue.Mappings(networking["inbound"]) {
		in = maps.Clone(in)
		if reflect.DeepEqual(in["servicePort"], in["port"]) {
			delete(in, "servicePort")
		}
		if in["state"] != "Ignored" {
			delete(in, "state")
		}
		if !o.Universal {
			delete(in, "address")
		}
		inbounds = append(inbounds, in)
	}
	for _, out := range fieldvalue.Mappings(networking["outbound"]) {
		address, _ := out["address"].(string)
		if ip, err := netip.ParseAddr(address); address != "" && (err != nil || !ip.IsLoopback()) {
			outbounds = append(outbounds, out)
		}
	}
	delete(networking, "outbound")
	if networking["inbound"] = inbounds; len(outbounds) > 0 {
		networking["outbound"] = outbounds
	}
	fields["networking"] = networking
	return fields
}

// forwards reports whether an inbound leads elsewhere than Kuma takes it to lead.
func forwards(inbound map[string]any) bool {
	return slices.ContainsFunc([]string{"servicePort", "serviceAddress", "state", "address"}, func(field string) bool { return inbound[field] != nil })
}
