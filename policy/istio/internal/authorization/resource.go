package authorization

import (
	"github.com/meshproof/meshproof/policy/istio/internal/object"
	"github.com/meshproof/meshproof/policy/manifest"
)

// AuthorizationPolicy is the resource as security.istio.io declares it. A list that may be
// absent is a pointer: nil means absent, which is not the same as empty.
type AuthorizationPolicy struct {
	object.Object
	Spec Spec `yaml:"spec"`
}

// Spec is what the policy asks for.
type Spec struct {
	Selector   *object.Selector  `yaml:"selector"`
	TargetRef  manifest.Document `yaml:"targetRef"`
	TargetRefs manifest.Document `yaml:"targetRefs"`
	Action     string            `yaml:"action"`
	Provider   *Provider         `yaml:"provider"`
	Rules      *[]*Rule          `yaml:"rules"`
}

// Provider names the authorizer that a policy with the action CUSTOM asks.
type Provider struct {
	Name string `yaml:"name"`
}

// Rule matches a request that meets one item of From, one of To, and all of When. A list
// that is absent is met by all.
type Rule struct {
	From *[]*RuleFrom  `yaml:"from"`
	To   *[]*RuleTo    `yaml:"to"`
	When *[]*Condition `yaml:"when"`
}

// RuleFrom holds a source.
type RuleFrom struct {
	Source *Source `yaml:"source"`
}

// Source says who calls. All of its fields have to match, each by one of its values, and a
// field that begins with not by none of them.
type Source struct {
	Principals           []string `yaml:"principals"`
	NotPrincipals        []string `yaml:"notPrincipals"`
	RequestPrincipals    []string `yaml:"requestPrincipals"`
	NotRequestPrincipals []string `yaml:"notRequestPrincipals"`
	Namespaces           []string `yaml:"namespaces"`
	NotNamespaces        []string `yaml:"notNamespaces"`
	ServiceAccounts      []string `yaml:"serviceAccounts"`
	NotServiceAccounts   []string `yaml:"notServiceAccounts"`
	IPBlocks             []string `yaml:"ipBlocks"`
	NotIPBlocks          []string `yaml:"notIpBlocks"`
	RemoteIPBlocks       []string `yaml:"remoteIpBlocks"`
	NotRemoteIPBlocks    []string `yaml:"notRemoteIpBlocks"`
	TrustDomains         []string `yaml:"trustDomains"`
	NotTrustDomains      []string `yaml:"notTrustDomains"`
}

// RuleTo holds an operation.
type RuleTo struct {
	Operation *Operation `yaml:"operation"`
}

// Operation says what is asked for, as [Source] says who asks.
type Operation struct {
	Hosts      []string `yaml:"hosts"`
	NotHosts   []string `yaml:"notHosts"`
	Ports      []string `yaml:"ports"`
	NotPorts   []string `yaml:"notPorts"`
	Methods    []string `yaml:"methods"`
	NotMethods []string `yaml:"notMethods"`
	Paths      []string `yaml:"paths"`
	NotPaths   []string `yaml:"notPaths"`
}

// Condition compares an attribute. It is met by one of Values, and by none of NotValues.
type Condition struct {
	Key       string   `yaml:"key"`
	Values    []string `yaml:"values"`
	NotValues []string `yaml:"notValues"`
}

// SpecFields returns the fields that its documents may have in their spec.
func SpecFields() []string { return manifest.Fields(AuthorizationPolicy{}, "spec") }
