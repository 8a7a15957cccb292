package authorization

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/warning"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The actions.
const (
	actionAllow  = "ALLOW"
	actionDeny   = "DENY"
	actionAudit  = "AUDIT"
	actionCustom = "CUSTOM"
)

// Policy is a valid AuthorizationPolicy. It is immutable; [Parse] makes it.
type Policy struct {
	doc      manifest.Document
	resource AuthorizationPolicy
	rules    []rule
	// observes is true where the policy is a dry run.
	observes bool
}

// rule is a rule with its values as terms.
type rule struct {
	field string
	// from and to have a list of terms for each item, nil where the rule asks for none.
	from, to [][]term
	when     []term
}

// terms yields all terms of the rule.
func (r rule) terms(yield func(term) bool) {
	for _, lists := range [][][]term{r.from, r.to, {r.when}} {
		for _, list := range lists {
			for _, t := range list {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// terms yields all terms of all rules.
func (p Policy) terms(yield func(term) bool) {
	for _, r := range p.rules {
		for t := range r.terms {
			if !yield(t) {
				return
			}
		}
	}
}

// Resource returns the policy as it was written, with its default namespace and action filled
// in. It must not be changed.
func (p Policy) Resource() AuthorizationPolicy { return p.resource }

// Observes reports whether the policy is a dry run.
func (p Policy) Observes() bool { return p.observes }

// Place returns "file:line" of a field.
func (p Policy) Place(field string) string { return p.doc.Place(field) }

// String returns "namespace/name".
func (p Policy) String() string {
	return p.resource.Metadata.Namespace + "/" + p.resource.Metadata.Name
}

// origin is the name under which Envoy reports a rule. Istio gives a rule this name.
func (p Policy) origin(rule int) string {
	return p.provider() + fmt.Sprintf("ns[%s]-policy[%s]-rule[%d]", p.resource.Metadata.Namespace, p.resource.Metadata.Name, rule)
}

// provider is the beginning of the names of rules that ask an authorizer, "" for others.
func (p Policy) provider() string {
	if p.resource.Spec.Action != actionCustom {
		return ""
	}
	return "istio-ext-authz-" + p.resource.Spec.Provider.Name + "-"
}

// Origins are the names of all rules.
func (p Policy) Origins() []string {
	out := make([]string, len(p.rules))
	for i := range out {
		out[i] = p.origin(i)
	}
	return out
}

func (p Policy) warn(kind warning.Kind, field, format string, args ...any) policy.Warning {
	return policy.Warning{Kind: kind, Place: p.doc.Place(field), Policy: p.String(), Message: fmt.Sprintf(format, args...)}
}

// Options are what the policies themselves do not say: the mesh config.
type Options struct {
	// RootNamespace is the namespace whose policies apply to all namespaces.
	// "" means istio-system.
	RootNamespace string `yaml:"rootNamespace"`
	// TrustDomain is the trust domain of the mesh; "" means the trust domain of the case.
	TrustDomain string `yaml:"trustDomain"`
	// TrustDomainAliases stand for the trust domain in the principals of policies.
	TrustDomainAliases []string `yaml:"trustDomainAliases"`
	// Normalization is how listeners normalize paths.
	Normalization Normalization `yaml:"normalization"`
	// Providers are the authorizers that policies may name.
	Providers []ExtensionProvider `yaml:"extensionProviders"`

	// listeners is as [Options.WithListeners] says.
	listeners policy.PathNormalization
}

// MarshalJSON prints the options with their defaults filled in. The trust domain of the case is
// left out.
func (o Options) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		RootNamespace      string   `json:"rootNamespace"`
		TrustDomain        string   `json:"trustDomain,omitempty"`
		TrustDomainAliases []string `json:"trustDomainAliases"`
		Normalization      string   `json:"normalization"`
		// Options without an authorizer are as they were.
		Providers []ExtensionProvider `json:"extensionProviders,omitempty"`
	}{o.rootNamespace(), o.TrustDomain, append([]string{}, o.TrustDomainAliases...), o.Normalization.String(), o.Providers})
}

func (o Options) rootNamespace() string { return cmp.Or(o.RootNamespace, "istio-system") }

// Document is the part of the options of a case that belongs to Istio.
type Document struct {
	Istio Options `yaml:"istio" json:"istio"`
}

// defaultTrustDomain is the trust domain where a case names none.
const defaultTrustDomain = "trust-domain.mesh"

// ReadOptions reads the options of a case. own is the trust domain of the case.
func ReadOptions(doc manifest.Document, own spiffeid.TrustDomain) (Options, error) {
	var read Document
	if err := doc.DecodeKnown(&read); err != nil {
		return Options{}, err
	}
	o := read.Istio
	o.RootNamespace = o.rootNamespace()
	switch {
	case o.TrustDomain != "":
	case own.IsZero():
		o.TrustDomain = defaultTrustDomain
	default:
		o.TrustDomain = own.Name()
	}
	if err := o.checkProviders(doc); err != nil {
		return Options{}, err
	}
	for i, alias := range o.TrustDomainAliases {
		if alias == "" {
			return Options{}, doc.Errorf(item("istio.trustDomainAliases", i), "the trust domain is empty")
		}
	}
	return o, nil
}
