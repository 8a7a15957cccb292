// Package istio is the dialect of Istio: AuthorizationPolicy, PeerAuthentication and
// RequestAuthentication, as a sidecar enforces them.
//
// It guarantees that the program and the second opinion decide alike: the two
// implementations share nothing but the parsed text. A refusal names file, line and
// field, and a field that cannot be judged is refused.
//
// Its program judges requests on HTTP and connections on tcp, plaintext ones too. It knows
// neither waypoints nor gateways, and nothing of Envoy.
package istio

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/istio/internal/authentication"
	"github.com/meshproof/meshproof/policy/istio/internal/authorization"
	"github.com/meshproof/meshproof/policy/istio/internal/conversion"
	"github.com/meshproof/meshproof/policy/istio/internal/evaluation"
	"github.com/meshproof/meshproof/policy/istio/internal/peerauthentication"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect reads the AuthorizationPolicy of Istio. Its options are one mapping, istio, with
// rootNamespace, trustDomain, trustDomainAliases and normalization.
var Dialect language.Dialect = dialect{}

type dialect struct{}

func (dialect) Name() string { return "istio" }

// Layer implements [capability.Layered].
func (dialect) Layer() capability.Layer { return capability.Layer{} }

func (dialect) Kinds() []manifest.Head {
	return slices.Concat(authorization.Kinds, authentication.Kinds, peerauthentication.Kinds)
}

// Abbreviations implements [capability.Abbreviator].
func (dialect) Abbreviations() map[string][]string {
	return map[string][]string{"AuthorizationPolicy": {"ap"}, "PeerAuthentication": {"pa"}, "RequestAuthentication": {"ra"}}
}

func (dialect) Owns(doc manifest.Document) bool {
	return authorization.Owns(doc) || authentication.Owns(doc) || peerauthentication.Owns(doc)
}

// SpecFields implements [capability.Specified].
func (dialect) SpecFields() []string {
	return slices.Concat(authorization.SpecFields(), authentication.SpecFields(), peerauthentication.SpecFields())
}

func (dialect) NewOptions() any { return new(authorization.Document) }

func (dialect) Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	own, err := authorization.ReadOptions(opts.Document, opts.TrustDomain)
	if err != nil {
		return nil, err
	}
	tokens, others := part(docs, authentication.Owns)
	peers, others := part(others, peerauthentication.Owns)
	all, err := authorization.ParseAll(others)
	demands, wrongTokens := authentication.ParseAll(tokens)
	modes, wrongPeers := peerauthentication.ParseAll(peers)
	if err := errors.Join(err, wrongTokens, wrongPeers); err != nil {
		return nil, err
	}
	return policies{all, demands, modes, own}, nil
}

// part parts the documents that a function owns from the others.
func part(docs []manifest.Document, owns func(manifest.Document) bool) (own, others []manifest.Document) {
	for _, doc := range docs {
		if owns(doc) {
			own = append(own, doc)
		} else {
			others = append(others, doc)
		}
	}
	return own, others
}

// policies implements [language.Policies].
type policies struct {
	all     []authorization.Policy
	tokens  []authentication.Policy
	peers   []peerauthentication.Policy
	options authorization.Options
}

func (p policies) Check(in policy.Inbound) error {
	return errors.Join(
		peerauthentication.Check(p.peers, in, p.options.RootNamespace),
		authentication.Check(p.tokens, in, p.options.RootNamespace, p.Program(in).Program),
	)
}

func (p policies) Program(in policy.Inbound) language.Program {
	selection := authorization.Select(p.all, in, p.options)
	out := language.Program{Program: authorization.Lower(selection, in, p.options), JudgesPlaintext: true, DefaultMTLS: peerauthentication.Default}
	out.Tokens, _ = authentication.Demand(p.tokens, in, p.options.RootNamespace)
	if len(p.peers) > 0 {
		out.MTLS = peerauthentication.Compose(p.peers, in.Workload, p.options.RootNamespace).Mode(in.Port)
	}
	return out
}

func (p policies) Ignored(in policy.Inbound) []string {
	_, tokens := authentication.Demand(p.tokens, in, p.options.RootNamespace)
	modes := peerauthentication.Compose(p.peers, in.Workload, p.options.RootNamespace)
	return slices.Concat(capability.Texts(authorization.Select(p.all, in, p.options).Ignored), tokens, modes.Ignored)
}

func (p policies) Evaluate(in policy.Inbound) func(policy.Request) policy.Decision {
	return evaluation.ForInbound(p.all, in, p.options)
}

// Flags implements [capability.Flagger]: the mesh config is one flag.
func (dialect) Flags() []capability.Flag {
	return []capability.Flag{{
		Key: "istio", Name: "istio",
		Usage:      "mesh config of Istio, such as 'rootNamespace: istio-config, normalization: NONE'",
		UsageOfSet: "mesh config of Istio for %s",
		Value: func(text string) (string, error) {
			config := "{" + text + "}"
			docs, err := manifest.Parse("--istio", []byte("istio: "+config))
			if err != nil {
				return "", err
			}
			return config, docs[0].Decode(new(authorization.Document))
		},
	}}
}

// Designs implements [capability.Converter].
func (dialect) Designs() capability.Flag {
	const kuma = "kuma"
	return capability.Flag{Name: "to", Values: []string{kuma}, Usage: "design to rewrite the policies for", Value: func(text string) (string, error) {
		if text != kuma {
			return "", fmt.Errorf("%q is unknown: use %s", text, kuma)
		}
		return text, nil
	}}
}

// Convert implements [capability.Converter].
func (dialect) Convert(docs []manifest.Document, _ string, mesh spiffeid.TrustDomain) (capability.Conversion, error) {
	return conversion.ToKuma(docs, mesh)
}

// Normalization implements [capability.Normalizer].
func (p policies) Normalization() (n policy.PathNormalization, stated bool) {
	return p.options.Normalization.Path(), p.options.Normalization != authorization.Unstated
}

// TrustDomains implements [capability.Aliased]: istiod has sidecars take certificates of all of them, by one list of CAs
// (TrustDomainsForValidation in pilot/pkg/security/authn).
func (p policies) TrustDomains() []string {
	return append([]string{p.options.TrustDomain}, p.options.TrustDomainAliases...)
}

// Locate implements [capability.Locator].
func (p policies) Locate(in policy.Inbound) func(policy.Request) (decides, shadow string) {
	return evaluation.Locate(p.all, in, p.options)
}

// FullNames implements [capability.Namer]. A policy has a full name for each of its rules.
func (p policies) FullNames(plain string) []string {
	return capability.FullNamesOf(p.all, plain, func(one authorization.Policy) (string, []string) { return one.Resource().Metadata.Name, one.Origins() })
}

// LintFor implements [capability.NormalizedLinter].
func (p policies) LintFor(n policy.PathNormalization, inbounds []policy.Inbound) []policy.Warning {
	p.options = p.options.WithListeners(n)
	return p.Lint(inbounds)
}

func (p policies) Lint(inbounds []policy.Inbound) []policy.Warning {
	warnings := authorization.Lint(p.all, inbounds, p.options, p.demand)
	takesPlaintext := func(in policy.Inbound) bool {
		modes := peerauthentication.Compose(p.peers, in.Workload, p.options.RootNamespace)
		return modes.ModeBy(in.Port) != "" && modes.Mode(in.Port).TakesPlaintext() // where no policy states the mode, that of the mesh is elsewhere
	}
	warnings = append(warnings, authorization.LintPlaintext(p.all, inbounds, p.options, takesPlaintext)...)
	warnings = append(warnings, authentication.Lint(p.tokens, inbounds, p.options.RootNamespace, func(in policy.Inbound) bool { return authorization.AsksForTokens(p.all, in, p.options) })...)
	return append(warnings, peerauthentication.Lint(p.peers, inbounds, p.options.RootNamespace)...)
}

// Displaced implements [capability.Displacer]: Istio takes the older one of two PeerAuthentications.
func (p policies) Displaced(in policy.Inbound) (out []string) {
	for _, rival := range peerauthentication.Compose(p.peers, in.Workload, p.options.RootNamespace).Rivals {
		out = append(out, rival.Policy.String())
	}
	return out
}

// ModeBy implements [capability.Moder].
func (p policies) ModeBy(in policy.Inbound) string {
	return peerauthentication.Compose(p.peers, in.Workload, p.options.RootNamespace).ModeBy(in.Port)
}

// Authorizers implements [capability.Delegator].
func (p policies) Authorizers() []string { return authorization.Authorizers(p.all, p.options) }

// References implements [capability.Referrer].
func (p policies) References(in policy.Inbound) capability.References {
	return authorization.References(p.all, in, p.options, p.demand(in))
}

// WithoutUnknown implements [capability.Referrer].
func (p policies) WithoutUnknown() language.Policies {
	p.all = authorization.WithoutUnknown(p.all, p.options)
	return p
}

// TrustedHops implements [capability.Forwarder].
func (p policies) TrustedHops() int { return authorization.TrustedHops(p.all) }

func (p policies) demand(in policy.Inbound) token.Demand {
	demand, _ := authentication.Demand(p.tokens, in, p.options.RootNamespace)
	return demand
}

// Targets implements [capability.Targeter].
func (p policies) Targets() []capability.Target {
	root := p.options.RootNamespace
	return slices.Concat(authorization.Targets(p.all, p.options), authentication.Targets(p.tokens, root), peerauthentication.Targets(p.peers, root))
}

func (policies) Notes([]policy.Decision) []string { return nil }
