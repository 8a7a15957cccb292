package authorization

// AuthorizationPolicy is the resource as GEP-3779, "API Design", declares it. A
// list that may be absent is a pointer: nil is absent, and differs from empty.
// Printed as JSON and read again it is the same.
type AuthorizationPolicy struct {
	APIVersion string        `yaml:"apiVersion" json:"apiVersion"`
	Kind       string        `yaml:"kind" json:"kind"`
	Metadata   Metadata      `yaml:"metadata" json:"metadata"`
	Spec       Spec          `yaml:"spec" json:"spec"`
	Status     *PolicyStatus `yaml:"status" json:"status,omitempty"`
}

// Metadata is the part of a Kubernetes object's metadata that a policy comes with,
// be it from its author or from an API server.
type Metadata struct {
	Name              string            `yaml:"name" json:"name"`
	Namespace         string            `yaml:"namespace" json:"namespace,omitempty"`
	Labels            map[string]string `yaml:"labels" json:"labels,omitzero"`
	Annotations       map[string]string `yaml:"annotations" json:"annotations,omitzero"`
	Generation        int64             `yaml:"generation" json:"generation,omitempty"`
	UID               string            `yaml:"uid" json:"uid,omitempty"`
	ResourceVersion   string            `yaml:"resourceVersion" json:"resourceVersion,omitempty"`
	CreationTimestamp string            `yaml:"creationTimestamp" json:"creationTimestamp,omitempty"`
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

// LabelSelector is that of Kubernetes; the empty one selects everything.
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

// Rule lets in whom both of its parts match.
type Rule struct {
	// Sources match everybody where they are absent, and nobody where they are empty.
	Sources *[]Source `yaml:"sources" json:"sources,omitempty"`
	// NetworkAttributes match everything where they are absent.
	NetworkAttributes *NetworkAttributes `yaml:"networkAttributes" json:"networkAttributes,omitempty"`
}

// NetworkAttributes are what a rule asks of the connection.
type NetworkAttributes struct {
	// Ports are those of the pod, not those of a Service; all where they are absent.
	Ports *[]uint16 `yaml:"ports" json:"ports,omitempty"`
}

// Source is one caller, or all service accounts of a namespace. Its type tells
// which of the two others is set.
type Source struct {
	Type           string          `yaml:"type" json:"type"`
	SPIFFE         *string         `yaml:"spiffe" json:"spiffe,omitempty"`
	ServiceAccount *ServiceAccount `yaml:"serviceAccount" json:"serviceAccount,omitempty"`
}

// ServiceAccount is a service account of the mesh's own trust domain.
type ServiceAccount struct {
	// Namespace is the policy's where it is absent.
	Namespace *string `yaml:"namespace" json:"namespace,omitempty"`
	// Name may be "*" for all service accounts of the namespace.
	Name string `yaml:"name" json:"name"`
}

// The values that the text gives a meaning to.
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
