package authorization

import (
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/meshproof/meshproof/internal/metadata"
	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Policy is a valid AuthorizationPolicy. It is immutable; [Parse] makes it. The
// zero value has no rules and applies to no inbound.
type Policy struct {
	doc      manifest.Document
	resource AuthorizationPolicy
	selector labels.Selector
}

// Resource returns the policy as it was written, with its default namespace filled in.
// It must not be changed.
func (p Policy) Resource() AuthorizationPolicy { return p.resource }

// Place returns "file:line" of a field.
func (p Policy) Place(field string) string { return p.doc.Place(field) }

// String returns "namespace/name".
func (p Policy) String() string {
	return p.resource.Metadata.Namespace + "/" + p.resource.Metadata.Name
}

// origin is the name under which Envoy reports a rule: "namespace/name/index". The index
// has three digits at least, so that names sort in the order of the rules. From the
// thousandth rule on they sort as texts.
func (p Policy) origin(rule int) string { return fmt.Sprintf("%s/%03d", p, rule) }

// Origins are the names of all rules.
func (p Policy) Origins() []string {
	out := make([]string, len(p.rules()))
	for i := range out {
		out[i] = p.origin(i)
	}
	return out
}

func (p Policy) rules() []Rule {
	if p.resource.Spec.Rules == nil {
		return nil
	}
	return *p.resource.Spec.Rules
}

func (p Policy) warn(kind warning.Kind, field, format string, args ...any) policy.Warning {
	return policy.Warning{Kind: kind, Place: p.doc.Place(field), Policy: p.String(), Message: fmt.Sprintf(format, args...)}
}

// Options are what the policies themselves do not say.
type Options struct {
	// TrustDomain is the trust domain of the service accounts. The zero value means
	// trust-domain.mesh.
	TrustDomain spiffeid.TrustDomain
}

var defaultTrustDomain = spiffeid.RequireTrustDomainFromString("trust-domain.mesh")

func (o Options) trustDomain() spiffeid.TrustDomain {
	if o.TrustDomain.IsZero() {
		return defaultTrustDomain
	}
	return o.TrustDomain
}

// AuthorizationPolicy is the resource as GEP-3779, "API Design", declares it. A list that
// may be absent is a pointer: nil means absent, which is not the same as empty. The JSON
// of a policy reads back as the same policy.
type AuthorizationPolicy struct {
	APIVersion string        `yaml:"apiVersion" json:"apiVersion"`
	Kind       string        `yaml:"kind" json:"kind"`
	Metadata   Metadata      `yaml:"metadata" json:"metadata"`
	Spec       Spec          `yaml:"spec" json:"spec"`
	Status     *PolicyStatus `yaml:"status" json:"status,omitempty"`
}

// Metadata has the fields of a Kubernetes object's metadata that an author or an API
// server writes.
type Metadata struct {
	Name              string            `yaml:"name" json:"name"`
	Namespace         string            `yaml:"namespace" json:"namespace,omitempty"`
	Labels            map[string]string `yaml:"labels" json:"labels,omitzero"`
	Annotations       map[string]string `yaml:"annotations" json:"annotations,omitzero"`
	Generation        int64             `yaml:"generation" json:"generation,omitempty"`
	UID               string            `yaml:"uid" json:"uid,omitempty"`
	ResourceVersion   string            `yaml:"resourceVersion" json:"resourceVersion,omitempty"`
	CreationTimestamp *string           `yaml:"creationTimestamp" json:"creationTimestamp,omitempty"`
	// The other fields of an API server are read and not shown.
	metadata.Added
}

// Spec is what the policy asks for.
type Spec struct {
	TargetRefs       []TargetRef `yaml:"targetRefs" json:"targetRefs,omitzero"`
	Action           string      `yaml:"action" json:"action"`
	Rules            *[]Rule     `yaml:"rules" json:"rules,omitempty"`
	EnforcementLevel string      `yaml:"enforcementLevel" json:"enforcementLevel"`
}

// TargetRef names what the policy protects.
type TargetRef struct {
	// Group is "" or "core" for pods, and may be left out.
	Group *string `yaml:"group" json:"group,omitempty"`
	Kind  string  `yaml:"kind" json:"kind"`
	// Name has to be empty for pods.
	Name     *string        `yaml:"name" json:"name,omitempty"`
	Selector *LabelSelector `yaml:"selector" json:"selector,omitempty"`
}

// LabelSelector is a label selector of Kubernetes. The empty one selects everything.
type LabelSelector struct {
	MatchLabels      map[string]string `yaml:"matchLabels" json:"matchLabels,omitzero"`
	MatchExpressions []Requirement     `yaml:"matchExpressions" json:"matchExpressions,omitzero"`
}

// Requirement is an item of matchExpressions.
type Requirement struct {
	Key      string   `yaml:"key" json:"key"`
	Operator string   `yaml:"operator" json:"operator"`
	Values   []string `yaml:"values" json:"values,omitzero"`
}

// Rule lets in a caller where both sources and network attributes match.
type Rule struct {
	// Sources match every caller where they are absent, and none where they are empty.
	Sources *[]Source `yaml:"sources" json:"sources,omitempty"`
	// NetworkAttributes match everything where they are absent.
	NetworkAttributes *NetworkAttributes `yaml:"networkAttributes" json:"networkAttributes,omitempty"`
}

// NetworkAttributes are what a rule asks of the connection.
type NetworkAttributes struct {
	// Ports are ports of the pod, not of a Service. Absent means all ports.
	Ports *[]uint16 `yaml:"ports" json:"ports,omitempty"`
}

// Source is one caller, or all service accounts of a namespace. Its type says which of
// the other fields is set.
type Source struct {
	Type           string          `yaml:"type" json:"type"`
	SPIFFE         *string         `yaml:"spiffe" json:"spiffe,omitempty"`
	ServiceAccount *ServiceAccount `yaml:"serviceAccount" json:"serviceAccount,omitempty"`
}

// ServiceAccount is a service account of the mesh's own trust domain.
type ServiceAccount struct {
	// Namespace is the namespace of the account; absent means the namespace of the policy.
	Namespace *string `yaml:"namespace" json:"namespace,omitempty"`
	// Name is the name of the account, or "*" for all accounts of the namespace.
	Name string `yaml:"name" json:"name"`
}

// The values that GEP-3779 gives a meaning.
const (
	actionAllow    = "ALLOW"
	levelNetwork   = "Network"
	kindPod        = "Pod"
	sourceSPIFFE   = "SPIFFE"
	sourceAccount  = "ServiceAccount"
	anyAccount     = "*"
	experimental   = "XAuthorizationPolicy"
	standard       = "AuthorizationPolicy"
	groupOfX       = "gateway.networking.x-k8s.io"
	groupOfGateway = "gateway.networking.k8s.io"
)

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(AuthorizationPolicy{}, "spec") }
