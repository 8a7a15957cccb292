package networkpolicy

import (
	"github.com/meshproof/meshproof/internal/labelselector"
	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Resource is a CiliumNetworkPolicy or a CiliumClusterwideNetworkPolicy, as cilium.io/v2
// declares it. A list that may be absent is a pointer: nil means absent, which is not the same
// as empty.
type Resource struct {
	APIVersion string          `yaml:"apiVersion"`
	Kind       string          `yaml:"kind"`
	Metadata   metadata.Object `yaml:"metadata"`
	Spec       *Spec           `yaml:"spec"`
	Specs      []*Spec         `yaml:"specs"`
	Status     any             `yaml:"status"`
}

// Spec is one set of rules with its subject.
type Spec struct {
	EndpointSelector  *Selector   `yaml:"endpointSelector"`
	NodeSelector      *Selector   `yaml:"nodeSelector"`
	Ingress           []Ingress   `yaml:"ingress"`
	IngressDeny       []Ingress   `yaml:"ingressDeny"`
	Egress            []Egress    `yaml:"egress"`
	EgressDeny        []Egress    `yaml:"egressDeny"`
	EnableDefaultDeny DefaultDeny `yaml:"enableDefaultDeny"`
	Description       string      `yaml:"description"`
	Labels            []Label     `yaml:"labels"`
	Log               Log         `yaml:"log"`
}

// DefaultDeny says for each direction whether the rules close what they do not allow. Absent
// means true for a direction that has rules.
type DefaultDeny struct {
	Ingress *bool `yaml:"ingress"`
	Egress  *bool `yaml:"egress"`
}

// Selector selects endpoints by their labels.
type Selector = labelselector.Selector

// Ingress is a rule about connections to the endpoint. A rule of ingressDeny has no
// authentication, and no rules in its ports.
type Ingress struct {
	FromEndpoints  *[]Selector     `yaml:"fromEndpoints"`
	FromCIDR       *[]string       `yaml:"fromCIDR"`
	FromCIDRSet    *[]CIDRRule     `yaml:"fromCIDRSet"`
	FromEntities   *[]string       `yaml:"fromEntities"`
	FromNodes      any             `yaml:"fromNodes"`
	FromGroups     any             `yaml:"fromGroups"`
	FromRequires   any             `yaml:"fromRequires"`
	ToPorts        []PortRule      `yaml:"toPorts"`
	ICMPs          []ICMP          `yaml:"icmps"`
	Authentication *Authentication `yaml:"authentication"`
}

// Egress is a rule about connections of the endpoint. It has no part in the decision of an
// inbound.
type Egress struct {
	ToEndpoints    *[]Selector     `yaml:"toEndpoints"`
	ToCIDR         *[]string       `yaml:"toCIDR"`
	ToCIDRSet      *[]CIDRRule     `yaml:"toCIDRSet"`
	ToEntities     *[]string       `yaml:"toEntities"`
	ToServices     []Service       `yaml:"toServices"`
	ToFQDNs        []DomainName    `yaml:"toFQDNs"`
	ToNodes        []Selector      `yaml:"toNodes"`
	ToGroups       []Group         `yaml:"toGroups"`
	ToPorts        []PortRule      `yaml:"toPorts"`
	ICMPs          []ICMP          `yaml:"icmps"`
	Authentication *Authentication `yaml:"authentication"`
}

// CIDRRule is a block of addresses without some blocks in it, or those of CiliumCIDRGroups.
type CIDRRule struct {
	CIDR              string   `yaml:"cidr"`
	Except            []string `yaml:"except"`
	CIDRGroupRef      *string  `yaml:"cidrGroupRef"`
	CIDRGroupSelector any      `yaml:"cidrGroupSelector"`
}

// isOfGroup reports whether the blocks are those of other objects.
func (c CIDRRule) isOfGroup() bool { return c.CIDRGroupRef != nil || c.CIDRGroupSelector != nil }

// Authentication is how a peer has to prove its identity: disabled, required or
// test-always-fail.
type Authentication struct {
	Mode string `yaml:"mode"`
}

// PortRule is a list of ports with what may be asked there.
type PortRule struct {
	Ports          []PortProtocol `yaml:"ports"`
	Rules          *L7Rules       `yaml:"rules"`
	ServerNames    []string       `yaml:"serverNames"`
	TerminatingTLS *TLS           `yaml:"terminatingTLS"`
	OriginatingTLS *TLS           `yaml:"originatingTLS"`
	Listener       *Listener      `yaml:"listener"`
}

// PortProtocol is a port by number or by name, or a range of ports.
type PortProtocol struct {
	Port     string `yaml:"port"`
	EndPort  int32  `yaml:"endPort"`
	Protocol string `yaml:"protocol"`
}

// L7Rules are what may be asked on a port. Without a rule everything may.
type L7Rules struct {
	HTTP    []HTTPRule   `yaml:"http"`
	DNS     []DomainName `yaml:"dns"`
	Kafka   any          `yaml:"kafka"`
	L7Proto any          `yaml:"l7proto"`
	L7      any          `yaml:"l7"`
}

// HTTPRule matches a request that meets all of its fields. Path, Method and Host are regular
// expressions of the whole value; an empty one is met by every request.
type HTTPRule struct {
	Path          string        `yaml:"path"`
	Method        string        `yaml:"method"`
	Host          string        `yaml:"host"`
	Headers       []string      `yaml:"headers"`
	HeaderMatches []HeaderMatch `yaml:"headerMatches"`
}

// HeaderMatch asks for a header with a value, or for any where the value is empty.
type HeaderMatch struct {
	Name     string  `yaml:"name"`
	Value    string  `yaml:"value"`
	Secret   *Secret `yaml:"secret"`
	Mismatch string  `yaml:"mismatch"`
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(Resource{}, "spec") }
