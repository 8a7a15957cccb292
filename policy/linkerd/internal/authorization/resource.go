package authorization

import (
	"github.com/meshproof/meshproof/policy/linkerd/internal/object"
	"github.com/meshproof/meshproof/policy/linkerd/internal/route"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The kinds, beside those of routes.
const (
	kindServer  = "Server"
	kindGrant   = "ServerAuthorization"
	kindPolicy  = "AuthorizationPolicy"
	kindMeshTLS = "MeshTLSAuthentication"
	kindNetwork = "NetworkAuthentication"
)

// Kinds are the kinds of Linkerd's own group. Routes are not among them, but among [SharedKinds].
var Kinds = []manifest.Head{
	{APIVersion: object.Group, Kind: kindServer}, {APIVersion: object.Group, Kind: kindGrant}, {APIVersion: object.Group, Kind: kindPolicy},
	{APIVersion: object.Group, Kind: kindMeshTLS}, {APIVersion: object.Group, Kind: kindNetwork},
}

// SharedKinds are the kinds of routes, which Gateway API has too.
var SharedKinds = []manifest.Head{
	{APIVersion: object.Group, Kind: route.HTTP}, {APIVersion: object.GatewayGroup, Kind: route.HTTP}, {APIVersion: object.GatewayGroup, Kind: route.GRPC},
}

// versions are those of each kind that are served, the newest first.
var versions = map[string][]string{
	kindServer: {"v1beta3", "v1beta2", "v1beta1"}, kindGrant: {"v1beta1"}, kindPolicy: {"v1alpha1"}, kindMeshTLS: {"v1alpha1"}, kindNetwork: {"v1alpha1"},
}

// Server is a port of some workloads.
type Server struct {
	object.Head
	Spec ServerSpec `yaml:"spec"`
	doc  manifest.Document
	// port is 0 where the port has a name.
	port     uint16
	portName string
}

// ServerSpec says which port of which workloads, and what the port speaks.
type ServerSpec struct {
	PodSelector              *object.Selector  `yaml:"podSelector"`
	ExternalWorkloadSelector manifest.Document `yaml:"externalWorkloadSelector"`
	Port                     manifest.Document `yaml:"port"`
	ProxyProtocol            string            `yaml:"proxyProtocol"`
	AccessPolicy             string            `yaml:"accessPolicy"`
}

// Port returns the number of the port, or its name where it has one.
func (s Server) Port() (number uint16, name string) { return s.port, s.portName }

// Grant is a ServerAuthorization, the older form of an AuthorizationPolicy.
type Grant struct {
	object.Head
	Spec struct {
		Server ServerChoice `yaml:"server"`
		Client Client       `yaml:"client"`
	} `yaml:"spec"`
	doc manifest.Document
}

// ServerChoice names a Server, or selects Servers by their labels.
type ServerChoice struct {
	Name     string           `yaml:"name"`
	Selector *object.Selector `yaml:"selector"`
}

// Client is who may use a Server.
type Client struct {
	Unauthenticated bool      `yaml:"unauthenticated"`
	MeshTLS         *MeshTLS  `yaml:"meshTLS"`
	Networks        []Network `yaml:"networks"`
}

// MeshTLS names clients by their identities.
type MeshTLS struct {
	UnauthenticatedTLS bool                `yaml:"unauthenticatedTLS"`
	Identities         []string            `yaml:"identities"`
	ServiceAccounts    []ServiceAccountRef `yaml:"serviceAccounts"`
}

// ServiceAccountRef names a service account; without a namespace it is of the grant's own.
type ServiceAccountRef struct {
	Name      string  `yaml:"name"`
	Namespace *string `yaml:"namespace"`
}

// Network is a block of addresses without some blocks in it.
type Network struct {
	CIDR   string   `yaml:"cidr"`
	Except []string `yaml:"except"`
}

// Policy is an AuthorizationPolicy.
type Policy struct {
	object.Head
	Spec struct {
		TargetRef                  object.Reference    `yaml:"targetRef"`
		RequiredAuthenticationRefs *[]object.Reference `yaml:"requiredAuthenticationRefs"`
	} `yaml:"spec"`
	doc manifest.Document
}

// MeshTLSAuthentication is a set of identities.
type MeshTLSAuthentication struct {
	object.Head
	Spec struct {
		Identities   []string           `yaml:"identities"`
		IdentityRefs []object.Reference `yaml:"identityRefs"`
	} `yaml:"spec"`
	doc manifest.Document
}

// NetworkAuthentication is a set of addresses.
type NetworkAuthentication struct {
	object.Head
	Spec struct {
		Networks []Network `yaml:"networks"`
	} `yaml:"spec"`
	doc manifest.Document
}

// Place returns "file:line" of a field.
func (g Grant) Place(field string) string { return g.doc.Place(field) }

// Place returns "file:line" of a field.
func (p Policy) Place(field string) string { return p.doc.Place(field) }

// SpecFields returns the fields that documents of its kinds may have in their spec.
func SpecFields() (out []string) {
	for _, kind := range []any{Server{}, Grant{}, Policy{}, MeshTLSAuthentication{}, NetworkAuthentication{}} {
		out = append(out, manifest.Fields(kind, "spec")...)
	}
	return append(out, route.SpecFields()...)
}
