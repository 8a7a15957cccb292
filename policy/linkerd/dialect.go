// Package linkerd is the dialect of Linkerd: Servers, their routes, and the policies and
// authentications that say who may use them.
//
// It guarantees that the program and the second opinion decide alike: the two implementations share
// nothing but the parsed text. A refusal names file, line and field, and a field that cannot be judged
// is refused.
//
// Linkerd enforces with a proxy of its own. The program says what its policies mean for the
// connections and requests of an inbound, plaintext ones too. It knows nothing of Envoy.
package linkerd

import (
	"errors"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/linkerd/internal/authorization"
	"github.com/meshproof/meshproof/policy/linkerd/internal/evaluation"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect reads the policies of Linkerd. Its options are one mapping, linkerd, with
// defaultInboundPolicy, identityDomain, controlPlaneNamespace, loopbackBypass, clusterNetworks and
// annotations.
var Dialect language.Dialect = dialect{}

type dialect struct{}

func (dialect) Name() string { return "linkerd" }

// Layer implements [capability.Layered].
func (dialect) Layer() capability.Layer { return capability.Layer{} }

func (dialect) Kinds() []manifest.Head { return authorization.Kinds }

// SharedKinds implements [capability.Sharer]: routes of Servers.
func (dialect) SharedKinds() []manifest.Head { return authorization.SharedKinds }

// Abbreviations implements [capability.Abbreviator].
func (dialect) Abbreviations() map[string][]string {
	return map[string][]string{
		"Server": {"srv"}, "ServerAuthorization": {"saz", "serverauthz", "srvauthz"}, "AuthorizationPolicy": {"authzpolicy"},
		"MeshTLSAuthentication": {"meshtlsauthn"}, "NetworkAuthentication": {"netauthn", "network"},
	}
}

func (dialect) Owns(doc manifest.Document) bool { return authorization.Owns(doc) }

// SpecFields implements [capability.Specified].
func (dialect) SpecFields() []string {
	return authorization.SpecFields()
}

func (dialect) NewOptions() any { return new(authorization.Document) }

func (dialect) Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	own, wrong := authorization.ReadOptions(opts)
	set, err := authorization.Parse(docs)
	if err := errors.Join(wrong, err); err != nil {
		return nil, err
	}
	return policies{set, own}, nil
}

// Drafts implements [capability.Drafter].
func (dialect) Drafts(docs []manifest.Document) []string {
	set, err := authorization.Parse(docs)
	if err != nil {
		return nil
	}
	return authorization.Drafts(set)
}

// policies implements [language.Policies].
type policies struct {
	set     authorization.Set
	options authorization.Options
}

func (p policies) Check(in policy.Inbound) error { return authorization.Check(p.set, in) }

func (p policies) Program(in policy.Inbound) language.Program {
	out := language.Program{JudgesPlaintext: true, DefaultMTLS: mtls.Permissive}
	if p.Check(in) != nil {
		out.Program = closed
	} else {
		out.Program = authorization.Lower(p.set, in, p.options)
	}
	return out
}

func (p policies) Ignored(in policy.Inbound) []string {
	return authorization.Ignored(p.set, in, p.options)
}

// closed lets no caller in.
var closed = policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Form: policy.Named}}}

func (p policies) Evaluate(in policy.Inbound) func(policy.Request) policy.Decision {
	if p.Check(in) != nil {
		return func(policy.Request) policy.Decision { return policy.Decision{} }
	}
	return evaluation.ForInbound(p.set, in, p.options)
}

// Locate implements [capability.Locator].
func (p policies) Locate(in policy.Inbound) func(policy.Request) (decides, shadow string) {
	return evaluation.Locate(p.set, in, p.options)
}

// Normalization implements [capability.Normalizer]: the proxy takes a path as it is.
func (policies) Normalization() (n policy.PathNormalization, stated bool) {
	return policy.PathNormalization{Raw: true, KeepSlashes: true, EscapedSlashes: policy.KeepEscapedSlashes}, false
}

// FullNames implements [capability.Namer].
func (p policies) FullNames(plain string) (out []string) {
	for _, g := range p.set.Grants {
		if g.Metadata.Name == plain {
			out = append(out, authorization.Origin(g.Head))
		}
	}
	for _, of := range p.set.Policies {
		if of.Metadata.Name == plain {
			out = append(out, authorization.Origin(of.Head))
		}
	}
	return out
}

func (p policies) Lint(inbounds []policy.Inbound) []policy.Warning {
	return authorization.Lint(p.set, inbounds, p.options)
}

// Strangers implements [capability.Stranger].
func (p policies) Strangers() []string { return authorization.Strangers(p.set, p.options) }

// References implements [capability.Referrer].
func (p policies) References(in policy.Inbound) capability.References {
	return authorization.References(p.set, in, p.options)
}

// WithoutUnknown implements [capability.Referrer]: no policy asks an authorizer.
func (p policies) WithoutUnknown() language.Policies { return p }

// Foreigners implements [capability.Neighbour].
func (p policies) Foreigners() []capability.Foreigner {
	return append(p.options.Neighbours(), authorization.Foreigners(p.set, p.options)...)
}

// ForeignTo implements [capability.Neighbour].
func (p policies) ForeignTo(of capability.Foreigner) language.Policies {
	p.options.Foreign = of
	return p
}

// Rivals implements [capability.Aging].
func (p policies) Rivals(in policy.Inbound) []string { return authorization.Rivals(p.set, in) }

// WithOldest implements [capability.Aging].
func (p policies) WithOldest(rival string) language.Policies {
	p.set.Oldest = rival
	return p
}

// Speaks implements [capability.Speaker].
func (p policies) Speaks() (http, each map[string]string) { return authorization.Speaks(p.set) }

// Reaches implements [capability.Reacher].
func (p policies) Reaches() []capability.OutsideDocument { return authorization.Outsides(p.set) }

// WithOutside implements [capability.Reacher].
func (p policies) WithOutside(of capability.OutsideDocument) language.Policies {
	p.set = p.set.WithOutside(of)
	return p
}

// Targets implements [capability.Targeter].
func (p policies) Targets() []capability.Target { return authorization.Targets(p.set) }

// Notes says who answers a request without a route.
func (policies) Notes(observed []policy.Decision) []string {
	if !slices.ContainsFunc(observed, func(d policy.Decision) bool {
		return d.Shadowed && d.Shadow.Effect == policy.Deny && d.Effect == policy.Allow
	}) {
		return nil
	}
	return []string{"a request that the shadow denies passes by the access policy audit alone"}
}
