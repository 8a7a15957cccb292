// Package dataplane reads Kuma's Dataplanes: the workloads of a mesh and their inbounds.
// It keeps what policies select by.
//
// It guarantees that a Dataplane has an identifier, and that each of its inbounds has a
// section of its own. It accepts and drops the fields that say nothing about the callers
// of an inbound.
package dataplane

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The labels of a Dataplane that give its identifier and decide about selection.
const (
	labelMesh        = "kuma.io/mesh"
	labelZone        = "kuma.io/zone"
	labelOrigin      = "kuma.io/origin"
	labelDisplayName = "kuma.io/display-name"
	labelNamespace   = "k8s.kuma.io/namespace"
	tagProtocol      = "kuma.io/protocol"
)

// Kind is the kind of a Dataplane, universal or a Kubernetes object.
const Kind = "Dataplane"

// Kinds are the two forms of a Dataplane.
var Kinds = []manifest.Head{{Type: Kind}, {APIVersion: apiVersion, Kind: Kind}}

// Dataplane is a workload with its inbounds.
type Dataplane struct {
	Workload policy.Workload
	// Name is the name in URLs: the name of the resource. A Kubernetes object has its
	// namespace behind a dot, as in a zone's control plane.
	Name     string
	Inbounds []policy.Inbound
	// Addresses has the address of each listener, in the order of Inbounds: the address of
	// the inbound, or else of the whole networking section. It is the zero value where no
	// address is stated, or where it is a host name.
	Addresses []netip.Addr
	// Machine has the addresses that are stated for the machine as a whole: its own one, and the one at which others reach it. HostNames
	// has what stands in their place and is no address, such as a host name, but for one that is the address of an inbound.
	Machine   []netip.Addr
	HostNames []string
	// RedirectsOutAlone is set where its transparent proxy redirects outbound connections and no inbound ones, and RedirectsIPv4Alone where
	// it redirects inbound connections of IPv4 and no others. In both cases its inbounds bind no port.
	RedirectsOutAlone, RedirectsIPv4Alone bool
	// Workloads has the place of the workload behind each inbound, in the order of Inbounds. The address is
	// the zero value where none is stated: then it is on the machine of the sidecar.
	Workloads []netip.AddrPort
	// Reach has the fields that say which services the sidecar reaches, those of a gateway, and those that
	// keep requests from an inbound. It is a text, to be compared.
	Reach string
	// Opens has the fields by which the sidecar takes requests on further ports, or on those of an inbound that is ignored, where no
	// policy judges them.
	Opens string
	// IsBare is true for a Dataplane without an inbound that is no gateway: Kuma applies no policy to it.
	IsBare bool
	// Place is "file:line" of the document.
	Place string

	gatewayTags map[string]string
}

// ID is the identifier of the Dataplane, without a section.
func (d *Dataplane) ID() kri.KRI {
	w := d.Workload
	return kri.KRI{Type: kri.Dataplane, Mesh: w.Mesh, Zone: w.Zone, Namespace: w.Namespace, Name: w.Name}
}

// Caller returns the workload as policies about what it sends see it: with the tags of its first
// inbound, or with those of the gateway that it is.
func (d *Dataplane) Caller() policy.Inbound {
	if len(d.Inbounds) > 0 {
		return d.Inbounds[0]
	}
	return policy.Inbound{Workload: d.Workload, Tags: d.gatewayTags}
}

// Owns reports whether a document is a Dataplane.
func Owns(doc manifest.Document) bool {
	head := doc.Type()
	return head.Type == Kind || head.Type == "" && head.Kind == Kind
}

// Parse reads a Dataplane in either form. Its error has file, line and field.
func Parse(doc manifest.Document) (*Dataplane, error) {
	if doc.Type().Type == "" {
		return parseKubernetes(doc)
	}
	var schema universalSchema
	if err := doc.Decode(&schema); err != nil {
		return nil, err
	}
	p := parser{doc: doc, nameField: "name", labelsField: "labels", networkingField: "networking"}
	return p.build(schema.Name, schema.Mesh, "", schema.Labels, schema.Networking, schema.opens())
}

func parseKubernetes(doc manifest.Document) (*Dataplane, error) {
	if head := doc.Type(); head.APIVersion != apiVersion {
		return nil, doc.Errorf("apiVersion", "version %q is not supported: use %s", head.APIVersion, apiVersion)
	}
	var schema kubernetesSchema
	if err := doc.Decode(&schema); err != nil {
		return nil, err
	}
	p := parser{doc: doc, nameField: "metadata.name", labelsField: "metadata.labels", networkingField: "spec.networking"}
	meta := schema.Metadata
	return p.build(meta.Name, schema.Mesh, cmp.Or(meta.Namespace, "default"), meta.KumaLabels(), schema.Spec.Networking, schema.Spec.opens())
}

// parser has the places of the same fields in the two forms of a Dataplane.
type parser struct {
	doc                                     manifest.Document
	nameField, labelsField, networkingField string
}

func (p parser) build(name, mesh, namespace string, labels map[string]string, networking networkingSchema, opens string) (*Dataplane, error) {
	if name == "" {
		return nil, p.doc.Errorf(p.nameField, "a name is required")
	}
	if label := labels[labelMesh]; mesh != "" && label != "" && mesh != label {
		return nil, p.doc.Errorf(p.label(labelMesh), "%q contradicts mesh %q", label, mesh)
	}
	if origin := labels[labelOrigin]; origin != "" && origin != "global" && origin != "zone" {
		return nil, p.doc.Errorf(p.label(labelOrigin), "%q is unknown: use global, zone", origin)
	}
	d := &Dataplane{Name: name, Place: p.doc.Place(""), Opens: opens, Workload: policy.Workload{
		Name: cmp.Or(labels[labelDisplayName], name), Namespace: cmp.Or(labels[labelNamespace], namespace),
		Mesh: cmp.Or(mesh, labels[labelMesh], "default"), Zone: labels[labelZone], Origin: labels[labelOrigin],
		Labels: maps.Clone(labels),
	}}
	d.Reach = networking.reachText()
	d.IsBare = len(networking.Inbound) == 0 && networking.Gateway.Line() == 0
	if tags, ok := networking.Gateway.Lookup("tags"); ok {
		if err := tags.Decode(&d.gatewayTags); err != nil {
			return nil, err
		}
	}
	if namespace != "" {
		d.Name += "." + namespace
	}
	if err := d.ID().Validate(); err != nil {
		return nil, p.doc.Errorf(p.nameField, "no resource identifier can be made: %v", err)
	}
	d.Machine, d.HostNames = networking.machine()
	var err error
	if d.RedirectsOutAlone, d.RedirectsIPv4Alone, err = networking.redirects(); err != nil {
		return nil, err
	}
	for i, schema := range networking.Inbound {
		in, err := p.inbound(fmt.Sprintf("%s.inbound[%d]", p.networkingField, i), d, schema)
		if err != nil {
			return nil, err
		}
		if schema.State == "Ignored" {
			d.Opens = strings.TrimPrefix(fmt.Sprintf("%s, inbound %s: {state: Ignored}", d.Opens, in.Section()), ", ")
		}
		d.Inbounds = append(d.Inbounds, in)
		// Anything but an IP is a host name, which the proxy resolves when it starts.
		address, _ := netip.ParseAddr(cmp.Or(schema.Address, networking.Address))
		d.Addresses = append(d.Addresses, address)
		workload, _ := netip.ParseAddr(schema.ServiceAddress)
		d.Workloads = append(d.Workloads, netip.AddrPortFrom(workload, cmp.Or(schema.ServicePort, schema.Port)))
	}
	return d, nil
}

func (p parser) inbound(field string, d *Dataplane, schema inboundSchema) (policy.Inbound, error) {
	if schema.Port == 0 {
		return policy.Inbound{}, p.doc.Errorf(field+".port", "the inbound has no port")
	}
	in := policy.Inbound{Workload: d.Workload, Name: schema.Name, Port: schema.Port, Protocol: policy.TCP, Tags: ownTags(schema.Tags, d.Workload.Labels)}
	tag, tagged := schema.Tags[tagProtocol]
	switch {
	case schema.Protocol != nil:
		in.Protocol = schema.Protocol.Protocol
	case tagged:
		var known Protocol
		if err := known.UnmarshalText([]byte(tag)); err != nil {
			return policy.Inbound{}, p.doc.Errorf(fmt.Sprintf("%s.tags[%q]", field, tagProtocol), "%v", err)
		}
		in.Protocol = known.Protocol
	}
	if err := kri.Inbound(in).Validate(); err != nil {
		return policy.Inbound{}, p.doc.Errorf(field+".name", "no resource identifier can be made: %v", err)
	}
	if slices.ContainsFunc(d.Inbounds, func(other policy.Inbound) bool { return other.Section() == in.Section() }) {
		return policy.Inbound{}, p.doc.Errorf(field, "inbound %s appears twice: give each a name of its own", in)
	}
	return in, nil
}

func (p parser) label(name string) string { return fmt.Sprintf("%s[%q]", p.labelsField, name) }

const apiVersion = "kuma.io/v1alpha1"

// universalSchema is a Dataplane as kumactl takes it: it has no spec.
type universalSchema struct {
	Type       string            `yaml:"type"`
	Mesh       string            `yaml:"mesh"`
	Name       string            `yaml:"name"`
	Labels     map[string]string `yaml:"labels"`
	Networking networkingSchema  `yaml:"networking"`
	ignoredFields
	metadata.Universal
}

// kubernetesSchema is the custom resource; its mesh stands at the root, or in a
// label.
type kubernetesSchema struct {
	APIVersion string          `yaml:"apiVersion"`
	Kind       string          `yaml:"kind"`
	Mesh       string          `yaml:"mesh"`
	Metadata   metadata.Object `yaml:"metadata"`
	Spec       struct {
		Networking networkingSchema `yaml:"networking"`
		ignoredFields
	} `yaml:"spec"`
	Status manifest.Document `yaml:"status"`
}

// IsOneWorkload reports whether two are the workload of one Dataplane: of one name, namespace, mesh and zone.
func IsOneWorkload(a, b policy.Workload) bool {
	return a.Name == b.Name && a.Namespace == b.Namespace && a.Mesh == b.Mesh && a.Zone == b.Zone
}

// tagService is the tag with the service of an inbound, which no control plane computes.
const tagService = "kuma.io/service"

// ownTags returns the tags of an inbound. A label of its Dataplane is no tag of it, so that a tag which the
// inbound lacks has the empty value. What a control plane computes is a tag all the same.
func ownTags(tags, labels map[string]string) map[string]string {
	out := map[string]string{tagService: ""}
	maps.Copy(out, tags)
	for key := range labels {
		if _, stated := tags[key]; !stated && !strings.Contains(key, "kuma.io/") {
			out[key] = ""
		}
	}
	return out
}

// ignoredFields are the fields of a Dataplane that say nothing about the callers of its inbounds.
type ignoredFields struct {
	Metrics manifest.Document `yaml:"metrics"`
	Probes  manifest.Document `yaml:"probes"`
	Envoy   manifest.Document `yaml:"envoy"`
}

// opens has the fields that open further ports.
func (f ignoredFields) opens() string {
	var parts []string
	for _, part := range []struct {
		name string
		doc  manifest.Document
	}{{"metrics", f.Metrics}, {"probes", f.Probes}} {
		if part.doc.Line() > 0 {
			parts = append(parts, part.name+": "+part.doc.Flow())
		}
	}
	return strings.Join(parts, ", ")
}

type networkingSchema struct {
	Address string          `yaml:"address"`
	Inbound []inboundSchema `yaml:"inbound"`

	AdvertisedAddress   string            `yaml:"advertisedAddress"`
	Admin               manifest.Document `yaml:"admin"`
	Gateway             manifest.Document `yaml:"gateway"`
	Outbound            manifest.Document `yaml:"outbound"`
	TransparentProxying manifest.Document `yaml:"transparentProxying"`
}

// machine returns the addresses of the machine as a whole, and the host names in their place. The name of an inbound that has no address of
// its own stands with the inbound. An address with a zone is as good as a name: no dump writes it so.
func (s networkingSchema) machine() (addresses []netip.Addr, names []string) {
	isOfInbound := func(in inboundSchema) bool { return in.Address == "" }
	for i, text := range []string{s.Address, s.AdvertisedAddress} {
		switch ip, err := netip.ParseAddr(text); {
		case text == "":
		case err == nil && ip.Zone() == "":
			addresses = append(addresses, ip)
		case i > 0 || !slices.ContainsFunc(s.Inbound, isOfInbound):
			names = append(names, text)
		}
	}
	return addresses, names
}

// redirects reports what of the connections of others its transparent proxy leaves out.
func (s networkingSchema) redirects() (redirectsOutAlone, redirectsIPv4Alone bool, err error) {
	var inbound, outbound uint32
	var family string
	for _, stated := range []struct {
		key   string
		value any
	}{{"redirectPortInbound", &inbound}, {"redirectPortOutbound", &outbound}, {"ipFamilyMode", &family}} {
		if part, ok := s.TransparentProxying.Lookup(stated.key); ok {
			if err := part.Decode(stated.value); err != nil {
				return false, false, err
			}
		}
	}
	return inbound == 0 && outbound != 0, inbound != 0 && strings.EqualFold(family, "IPv4"), nil
}

type inboundSchema struct {
	Name     string            `yaml:"name"`
	Port     uint16            `yaml:"port"`
	Protocol *Protocol         `yaml:"protocol"`
	Tags     map[string]string `yaml:"tags"`

	Address        string            `yaml:"address"`
	ServiceAddress string            `yaml:"serviceAddress"`
	ServicePort    uint16            `yaml:"servicePort"`
	ServiceProbe   manifest.Document `yaml:"serviceProbe"`
	Health         manifest.Document `yaml:"health"`
	// State is dropped: policies also select an inbound that is not ready. Where discovery ignores one, Kuma makes no
	// listener for it, and a transparent proxy passes its connections on: see [Dataplane.Opens].
	State string `yaml:"state"`
}

// reachText has the fields that say which services a sidecar reaches, and which inbounds take no requests, each
// with its name.
func (s networkingSchema) reachText() string {
	var parts []string
	add := func(name string, doc manifest.Document) {
		if doc.Line() > 0 && doc.Flow() != "[]" {
			parts = append(parts, name+": "+doc.Flow())
		}
	}
	add("outbound", s.Outbound)
	for _, key := range s.TransparentProxying.Keys() {
		if strings.HasPrefix(key, "reachable") || strings.HasPrefix(key, "directAccess") {
			part, _ := s.TransparentProxying.Lookup(key)
			add("transparentProxying."+key, part)
		}
	}
	add("gateway", s.Gateway)
	for i, in := range s.Inbound {
		if in.State != "" && in.State != "Ready" {
			parts = append(parts, fmt.Sprintf("inbound[%d].state: %s", i, in.State))
		}
		add(fmt.Sprintf("inbound[%d].health", i), in.Health)
	}
	return strings.Join(parts, ", ")
}

// Protocol reads Kuma's names of a protocol, of an inbound and of a port of a service alike. Kuma
// treats kafka as tcp.
type Protocol struct{ policy.Protocol }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Protocol) UnmarshalText(text []byte) error {
	if string(text) == "kafka" {
		p.Protocol = policy.TCP
		return nil
	}
	if p.Protocol.UnmarshalText(text) != nil {
		return fmt.Errorf("protocol %q is unknown: use http, http2, grpc, tcp or kafka", text)
	}
	return nil
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(kubernetesSchema{}, "spec") }
