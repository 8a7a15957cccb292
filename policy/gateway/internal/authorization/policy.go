package authorization

import (
	"fmt"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"k8s.io/apimachinery/pkg/labels"

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

// String returns "namespace/name".
func (p Policy) String() string {
	return p.resource.Metadata.Namespace + "/" + p.resource.Metadata.Name
}

// origin is the name under which Envoy reports a rule: "namespace/name/index". The index
// has three digits at least, so that names sort in the order of the rules. From the
// thousandth rule on they sort as texts.
func (p Policy) origin(rule int) string { return fmt.Sprintf("%s/%03d", p, rule) }

func (p Policy) rules() []Rule {
	if p.resource.Spec.Rules == nil {
		return nil
	}
	return *p.resource.Spec.Rules
}

func (p Policy) warn(field, format string, args ...any) policy.Warning {
	return policy.Warning{Place: p.doc.Place(field), Policy: p.String(), Message: fmt.Sprintf(format, args...)}
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
