package kuma

import (
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/listing"
	"github.com/meshproof/meshproof/policy/kuma/internal/outbound"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/routeevaluation"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// OwnsRouting implements [capability.Router]. What is about a gateway alone concerns no sidecar, and is not read.
func (dialect) OwnsRouting(doc manifest.Document) bool {
	return outbound.Owns(doc) && metadata.TextAt(doc, "spec.targetRef.kind") != "MeshGateway"
}

// RoutingKinds implements [capability.RoutingLister].
func (dialect) RoutingKinds() (out []manifest.Head) {
	for _, kind := range listing.RoutingKinds {
		out = append(out, kind.Heads()...)
	}
	return out
}

// Abbreviations implements [capability.Abbreviator]: the short name of a kind is that of its identifiers.
func (dialect) Abbreviations() map[string][]string {
	out := map[string][]string{}
	for _, kind := range listing.RoutingKinds {
		out[kind.Name] = []string{kind.Type}
	}
	return out
}

// RoutingObject implements [capability.RoutingLister].
func (dialect) RoutingObject(doc manifest.Document) (capability.Object, error) {
	return listing.RoutingObject(doc)
}

// ParseRouting implements [capability.Router].
func (dialect) ParseRouting(docs []manifest.Document, opts language.Options) (capability.Routing, error) {
	own, err := readOptions(opts)
	if err != nil {
		return nil, err
	}
	r, err := outbound.Parse(docs, own.ControlPlaneNamespace(), own.Routes)
	if err != nil {
		return nil, err
	}
	second := routeevaluation.Text{Released: own.Routes == outbound.Released, SystemNamespace: own.ControlPlaneNamespace()}
	second.Destinations, second.Routes, second.Timeouts = r.Parsed()
	return routes{r, second}, nil
}

// routes implements [capability.Routing].
type routes struct {
	*outbound.Resources
	second routeevaluation.Text
}

func (r routes) Outbounds(of policy.Inbound) (routing.Proxy, []routing.Ignored) {
	p := r.ProxyOf(of)
	return p.Proxy, p.Ignored
}

func (r routes) Follow(of policy.Inbound, outbound string, request policy.Request) (routing.Decision, bool) {
	outcome, ok := r.second.Evaluate(of, outbound, request)
	d := routing.Decision{Route: outcome.Route, Backends: outcome.Backends}
	for bound, time := range outcome.Limits {
		d.Limits[bound].Time = time
	}
	return d, ok
}

func (r routes) InboundsBehind(cluster string, inbounds []policy.Inbound) []policy.Inbound {
	return r.Inbounds(cluster, inbounds)
}

func (r routes) Mismatches(workloads []policy.Inbound) (out []routing.Ignored) {
	ofMesh := map[string][]policy.Inbound{}
	for _, w := range workloads {
		mesh := scope.WorkloadLabel(&w.Workload, resource.LabelMesh)
		ofMesh[mesh] = append(ofMesh[mesh], w)
	}
	for _, mesh := range slices.Sorted(maps.Keys(ofMesh)) {
		out = append(out, r.Resources.Mismatches(mesh, ofMesh[mesh])...)
	}
	return append(out, r.MissingBackends("")...)
}
