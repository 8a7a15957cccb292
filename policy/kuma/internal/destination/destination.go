// Package destination reads the resources that requests are sent to: MeshService,
// MeshMultiZoneService and MeshExternalService.
//
// It guarantees that each port of a destination has a section of its own, and that a refusal
// names file, line and field. It finds the inbounds behind a destination. It sends nothing.
package destination

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/meshproof/meshproof/internal/dataplane"
	"github.com/meshproof/meshproof/internal/kri"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/kuma/internal/resource"
	"github.com/meshproof/meshproof/policy/kuma/internal/scope"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The kinds of destinations.
var (
	MeshService          = resource.Kind{Name: "MeshService", Type: kri.MeshService}
	MeshMultiZoneService = resource.Kind{Name: "MeshMultiZoneService", Type: kri.MeshMultiZoneService}
	MeshExternalService  = resource.Kind{Name: "MeshExternalService", Type: kri.MeshExternalService}
)

// Kinds are the kinds of destinations.
var Kinds = []resource.Kind{MeshService, MeshMultiZoneService, MeshExternalService}

// Destination is a service. It is immutable; [Parse] makes it.
type Destination struct {
	resource.Resource
	Kind  resource.Kind
	Ports []Port
	// Unavailable is true for a MeshService whose state says so.
	Unavailable bool
	// Identities are what a MeshService states of its workloads.
	Identities Identities

	// selects tells the workloads behind a MeshService by their tags or labels, and by name.
	tags, labels map[string]string
	dataplane    string
	// services are the labels of the MeshServices behind a MeshMultiZoneService.
	services map[string]string
}

// Port is a port of a service.
type Port struct {
	Name     string
	Number   uint16
	Protocol policy.Protocol
	// target is the number of the inbounds behind the port, or with named their name. It is empty where none
	// is written: Kuma has no default for it.
	target string
	named  bool
}

// Section returns the name of the port, or its number where it has none.
func (p Port) Section() string {
	if p.Name != "" {
		return p.Name
	}
	return strconv.Itoa(int(p.Number))
}

// Target returns the name or the number of the inbounds behind the port, "" where the port states none and so has
// no inbound behind it.
func (p Port) Target() string { return p.target }

// takes reports whether an inbound is behind the port. As in Kuma, a number is never a name.
func (p Port) takes(in *policy.Inbound) bool {
	if p.named {
		return in.Name == p.target
	}
	return strconv.Itoa(int(in.Port)) == p.target
}

// PortID is the identifier of a port of the destination.
func (d *Destination) PortID(p Port) kri.KRI {
	id := d.ID
	id.Section = p.Section()
	return id
}

// Port returns the port with a section, which may also be the number of a port with a name.
func (d *Destination) Port(section string) (Port, bool) {
	i := slices.IndexFunc(d.Ports, func(p Port) bool { return p.Section() == section || strconv.Itoa(int(p.Number)) == section })
	if i < 0 {
		return Port{}, false
	}
	return d.Ports[i], true
}

type serviceSpec struct {
	Selector struct {
		DataplaneTags   map[string]string `yaml:"dataplaneTags"`
		DataplaneLabels *labelSelector    `yaml:"dataplaneLabels"`
		DataplaneRef    *struct {
			Name string `yaml:"name"`
		} `yaml:"dataplaneRef"`
	} `yaml:"selector"`
	Ports      []portSchema     `yaml:"ports"`
	Identities []identitySchema `yaml:"identities"`
	State      string           `yaml:"state"`
}

// unavailable is the state of a MeshService that none of its Dataplanes stands behind.
const unavailable = "Unavailable"

type labelSelector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type identitySchema struct {
	Type  string `yaml:"type"`
	Value string `yaml:"value"`
}

// Identities are what a MeshService states of its workloads: SPIFFE IDs, and values of the tag
// kuma.io/service.
type Identities struct{ SPIFFE, Tags []string }

// All returns the SPIFFE IDs and the tags.
func (i Identities) All() []string { return slices.Concat(i.SPIFFE, i.Tags) }

func (i *Identities) read(doc manifest.Document, schemas []identitySchema) error {
	for k, schema := range schemas {
		switch field := fmt.Sprintf("spec.identities[%d]", k); {
		case schema.Value == "":
			return doc.Errorf(field+".value", "the value is missing")
		case schema.Type == "SpiffeID":
			i.SPIFFE = append(i.SPIFFE, schema.Value)
		case schema.Type == "ServiceTag":
			i.Tags = append(i.Tags, schema.Value)
		default:
			return doc.Errorf(field+".type", "type %q is unknown: use SpiffeID or ServiceTag", schema.Type)
		}
	}
	return nil
}

type multiZoneSpec struct {
	Selector struct {
		MeshService labelSelector `yaml:"meshService"`
	} `yaml:"selector"`
	Ports []portSchema `yaml:"ports"`
}

type externalSpec struct {
	Match struct {
		Type     string              `yaml:"type"`
		Port     uint16              `yaml:"port"`
		Protocol *dataplane.Protocol `yaml:"protocol"`
	} `yaml:"match"`
	Endpoints manifest.Document `yaml:"endpoints"`
	Extension manifest.Document `yaml:"extension"`
	TLS       manifest.Document `yaml:"tls"`
}

type portSchema struct {
	Name        string              `yaml:"name"`
	Port        uint16              `yaml:"port"`
	TargetPort  targetPort          `yaml:"targetPort"`
	AppProtocol *dataplane.Protocol `yaml:"appProtocol"`
}

// targetPort is the number of an inbound, or its name. A number in quotes is a name.
type targetPort struct {
	text  string
	named bool
}

// UnmarshalManifest lets [manifest.Document.Decode] read the type.
func (t *targetPort) UnmarshalManifest(d manifest.Document) error {
	var number uint16
	if d.Decode(&number) == nil {
		t.text = strconv.Itoa(int(number))
		return nil
	}
	t.named = true
	return d.Decode(&t.text)
}

// Owns reports whether a document is a destination.
func Owns(doc manifest.Document) bool {
	return slices.ContainsFunc(Kinds, func(k resource.Kind) bool { return k.Owns(doc) })
}

// ParseAll parses each document as [resource.ParseAll] does.
func ParseAll(docs []manifest.Document) ([]Destination, error) {
	return resource.ParseAll(docs, Parse, func(d *Destination) resource.Resource { return d.Resource })
}

// Parse reads one destination. Every error is a [*manifest.Error].
func Parse(doc manifest.Document) (Destination, error) {
	switch {
	case MeshMultiZoneService.Owns(doc):
		head, spec, err := resource.Parse[multiZoneSpec](MeshMultiZoneService, doc)
		d := Destination{Resource: head, Kind: MeshMultiZoneService, services: spec.Selector.MeshService.MatchLabels}
		if err == nil && len(d.services) == 0 {
			err = doc.Errorf("spec.selector.meshService.matchLabels", "the labels are missing: they tell the services of all zones")
		}
		if err == nil {
			err = resource.CheckSelector(doc, "spec.selector.meshService.matchLabels", d.services)
		}
		return d.withPorts(spec.Ports, err)
	case MeshExternalService.Owns(doc):
		head, spec, err := resource.Parse[externalSpec](MeshExternalService, doc)
		return Destination{Resource: head, Kind: MeshExternalService}.withPorts([]portSchema{{Port: spec.Match.Port, AppProtocol: spec.Match.Protocol}}, err)
	}
	head, spec, err := resource.Parse[serviceSpec](MeshService, doc)
	d := Destination{Resource: head, Kind: MeshService, Unavailable: spec.State == unavailable, tags: spec.Selector.DataplaneTags}
	if l := spec.Selector.DataplaneLabels; l != nil {
		d.labels = l.MatchLabels
	}
	if ref := spec.Selector.DataplaneRef; ref != nil {
		d.dataplane = ref.Name
	}
	if err == nil {
		err = d.Identities.read(doc, spec.Identities)
	}
	if err == nil {
		err = d.checkSelector(doc, spec)
	}
	return d.withPorts(spec.Ports, err)
}

// checkSelector refuses a selector that selects by nothing, or by several fields.
func (d Destination) checkSelector(doc manifest.Document, spec serviceSpec) error {
	stated := 0
	for _, is := range []bool{spec.Selector.DataplaneTags != nil, spec.Selector.DataplaneLabels != nil, spec.Selector.DataplaneRef != nil} {
		if is {
			stated++
		}
	}
	switch {
	case len(d.tags)+len(d.labels)+len(d.dataplane) == 0:
		return doc.Errorf("spec.selector", "the selector is missing: write dataplaneTags, dataplaneLabels or dataplaneRef")
	case stated > 1:
		return doc.Errorf("spec.selector", "the selector has %d fields, and Kuma refuses more than one of dataplaneTags, dataplaneLabels and dataplaneRef: select by one of them", stated)
	}
	return cmp.Or(resource.CheckSelector(doc, "spec.selector.dataplaneTags", d.tags), resource.CheckSelector(doc, "spec.selector.dataplaneLabels.matchLabels", d.labels))
}

// withPorts returns the destination with its ports.
func (d Destination) withPorts(ports []portSchema, err error) (Destination, error) {
	field := func(i int) string {
		if d.Kind == MeshExternalService {
			return "spec.match"
		}
		return fmt.Sprintf("spec.ports[%d]", i)
	}
	if err == nil && len(ports) == 0 {
		err = d.Doc.Errorf("spec.ports", "the ports are missing: without one nothing can be sent")
	}
	for i, schema := range ports {
		if err != nil {
			break
		}
		if schema.Port == 0 {
			err = d.Doc.Errorf(field(i)+".port", "the port is missing")
			break
		}
		p := Port{Name: schema.Name, Number: schema.Port, Protocol: policy.TCP, target: schema.TargetPort.text, named: schema.TargetPort.named}
		if schema.AppProtocol != nil {
			p.Protocol = schema.AppProtocol.Protocol
		}
		if invalid := d.PortID(p).Validate(); invalid != nil {
			err = d.Doc.Errorf(field(i)+".name", "no resource identifier can be made: %v", invalid)
			break
		}
		if _, twice := d.Port(p.Section()); twice {
			err = d.Doc.Errorf(field(i), "port %s appears twice: give each a name and a number of its own", p.Section())
			break
		}
		d.Ports = append(d.Ports, p)
	}
	if err != nil {
		return Destination{}, err
	}
	return d, nil
}

// Inbounds returns which of the inbounds take what is sent to a port. The services are all
// that there are: those of a MeshMultiZoneService are among them. A MeshExternalService has
// no inbound in the mesh.
//
// As in Kuma, a MeshService selects Dataplanes of all namespaces, by the tags of any of their inbounds, and
// the port then takes its inbound of them. A port of a MeshMultiZoneService is the port of that number.
func (d *Destination) Inbounds(p Port, services []Destination, inbounds []policy.Inbound) []policy.Inbound {
	var out []policy.Inbound
	switch d.Kind {
	case MeshService:
		for i := range inbounds {
			in := &inbounds[i]
			if p.takes(in) && slices.ContainsFunc(inbounds, func(other policy.Inbound) bool {
				return dataplane.IsOneWorkload(other.Workload, in.Workload) && d.selects(&other)
			}) {
				out = append(out, *in)
			}
		}
	case MeshMultiZoneService:
		for i := range services {
			s := &services[i]
			if !d.isBehind(s) {
				continue
			}
			for _, own := range s.Ports {
				if own.Number == p.Number {
					out = append(out, s.Inbounds(own, services, inbounds)...)
				}
			}
		}
	}
	return out
}

func (d *Destination) selects(in *policy.Inbound) bool {
	w := &in.Workload
	if scope.WorkloadLabel(w, resource.LabelMesh) != d.ID.Mesh {
		return false
	}
	tag := func(key string) string {
		value, _ := scope.InboundTag(in, key)
		return value
	}
	label := func(key string) string { return scope.WorkloadLabel(w, key) }
	return isSubset(d.tags, tag) && isSubset(d.labels, label) && d.isReferred(w)
}

// isReferred reports whether the workload is the Dataplane that the selector names, if it names one. A control plane
// on Kubernetes names a Dataplane with its namespace behind a dot, and by no other name.
func (d *Destination) isReferred(w *policy.Workload) bool {
	full := scope.WorkloadLabel(w, resource.LabelDisplayName) + "." + w.Namespace
	return d.dataplane == "" || d.dataplane == full || d.Universal && d.dataplane == w.Name
}

// Services returns the identifiers of the MeshServices behind a MeshMultiZoneService, nil for another kind.
func (d *Destination) Services(services []Destination) []string {
	if d.Kind != MeshMultiZoneService {
		return nil
	}
	out := []string{}
	for i := range services {
		if d.isBehind(&services[i]) {
			out = append(out, services[i].Origin)
		}
	}
	return out
}

// isBehind reports whether a MeshService is behind a MeshMultiZoneService.
func (d *Destination) isBehind(s *Destination) bool {
	return s.Kind == MeshService && s.ID.Mesh == d.ID.Mesh && isSubset(d.services, s.Label)
}

// isSubset reports whether each of the labels has its value.
func isSubset(labels map[string]string, value func(key string) string) bool {
	for key, want := range labels {
		if value(key) != want {
			return false
		}
	}
	return true
}

// SpecFields returns the fields that services of each kind may have in their spec.
func SpecFields() []string {
	return slices.Concat(manifest.Fields(serviceSpec{}), manifest.Fields(multiZoneSpec{}), manifest.Fields(externalSpec{}))
}
