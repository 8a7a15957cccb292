package manifestdiff

import (
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/fieldvalue"
)

// readOfDataplanes are the fields of a Dataplane that its reader takes, or that cannot matter: what the
// control plane writes, and what concerns other workloads alone.
var readOfDataplanes = fields(`type apiVersion kind name mesh labels metadata status creationTime modificationTime kri
	networking.advertisedAddress networking.inbound[].name networking.inbound[].port networking.inbound[].protocol networking.inbound[].tags
	networking.inbound[].health networking.inbound[].serviceProbe
	networking.transparentProxying.reachableServices networking.transparentProxying.reachableBackends
	networking.transparentProxying.directAccessServices`)

// compareDataplanes compares what is not read of the Dataplanes. A new one may open ports by itself. One that
// is gone is compared by its policies.
func (c *comparison) compareDataplanes() (out []Change) {
	before, after := c.oldDataplanes, c.recentDataplanes
	for _, is := range after.all {
		n := len(out)
		if olds := before.byKey[is.key]; len(olds) > 0 {
			w := walker{comparison: c, kind: is.kind, category: dataplane}
			w.walk("", is.root(), plainDataplane(olds[0]), plainDataplane(is))
			out = append(out, w.changes(olds[0], is)...)
			if c.callsAs(olds[0]) != c.callsAs(is) {
				out = append(out, is.change("has another service, account or label, and may call as somebody else"))
			}
		} else {
			out = append(out, c.openingsOf(is)...)
		}
		c.told.add(is.key, out[n:])
	}
	for _, was := range before.all {
		if c.symmetric && len(after.byKey[was.key]) == 0 {
			found := c.openingsOf(was)
			c.told.add(was.key, found)
			out = append(out, found...)
		}
	}
	return out
}

// openingsOf names what a Dataplane of one side alone opens: the ports of probes and metrics, and those by
// which it sends requests in its own name.
func (c *comparison) openingsOf(o object) (out []Change) {
	fields := plainDataplane(o)
	for _, field := range []string{"probes", "metrics"} {
		if fields[field] != nil {
			out = append(out, Change{o.doc.Place(joined(o.root(), field)), o.String(), isAlone})
		}
	}
	if fieldvalue.Lookup(fields, "networking", "outbound") != nil {
		out = append(out, Change{o.doc.Place(joined(o.root(), "networking.outbound")), o.String(), isAlone})
	}
	for _, name := range strings.Fields(c.callsAs(o)) {
		_, value, isLabel := strings.Cut(name, "=")
		if !isLabel {
			value = name
		}
		if value != "<nil>" && c.mayLetIn("", value) {
			return append(out, o.change("may call as "+value+", whom policies may let in, and the other side does not have it"))
		}
	}
	return out
}

// callsAs has what may give a Dataplane its name as a caller: its services, its account, and the labels that
// a MeshIdentity asks for.
func (c *comparison) callsAs(o object) string {
	var parts []string
	networking := fieldvalue.Lookup(o.fields, o.root(), "networking")
	for _, in := range append(fieldvalue.Mappings(fieldvalue.Lookup(networking, "inbound")), fieldvalue.Mappings([]any{fieldvalue.Lookup(networking, "gateway")})...) {
		tags, _ := in["tags"].(map[string]any)
		for key, value := range tags {
			if key == "kuma.io/service" || c.peers.has(key) {
				parts = append(parts, fmt.Sprintf("%s=%v", key, value))
			}
		}
	}
	labels, _ := fieldvalue.Lookup(o.fields, "labels").(map[string]any)
	if !o.universal {
		labels, _ = fieldvalue.Lookup(o.fields, "metadata", "labels").(map[string]any)
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if key == "k8s.kuma.io/service-account" || key == "kuma.io/workload" || c.identities.has(key) {
			parts = append(parts, fmt.Sprintf("%s=%v", key, labels[key]))
		}
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), " ")
}

// root is the field of a Dataplane that has its networking.
func (o object) root() string {
	if o.universal {
		return ""
	}
	return "spec"
}

// plainDataplane returns the fields of a Dataplane without those that say what Kuma takes anyway. In
// Kubernetes the control plane writes the address. An outbound on loopback serves its own workload.
func plainDataplane(o object) map[string]any {
	fields, _ := fieldvalue.Lookup(o.fields, o.root()).(map[string]any)
	fields = maps.Clone(fields)
	networking, _ := fields["networking"].(map[string]any)
	networking = maps.Clone(networking)
	if networking == nil {
		return fields
	}
	if !o.universal {
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
		if !o.universal {
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
