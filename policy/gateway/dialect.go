// Package gateway is the dialect of Gateway API: the AuthorizationPolicy of
// GEP-3779, which selects pods by their labels and names the callers that they let
// in.
//
// It guarantees that the program and the second opinion decide alike: the two
// implementations share nothing but the parsed text. A refusal names file, line and
// field.
//
// Its program judges connections, plaintext ones too, on an inbound of any protocol.
// It knows nothing of Envoy.
package gateway

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/gateway/internal/authorization"
	"github.com/meshproof/meshproof/policy/gateway/internal/evaluation"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect reads the AuthorizationPolicy of Gateway API. It has no options of its
// own; service accounts belong to the trust domain of the mesh. It is a
// [capability.Lister].
var Dialect language.Dialect = dialect{}

type dialect struct{}

func (dialect) Name() string { return "gateway" }

func (dialect) Kinds() []manifest.Head { return authorization.Kinds }

func (dialect) Owns(doc manifest.Document) bool { return authorization.Owns(doc) }

// SpecFields implements [capability.Specified].
func (dialect) SpecFields() []string {
	return authorization.SpecFields()
}

func (dialect) NewOptions() any { return new(struct{}) }

func (dialect) Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	all, err := authorization.ParseAll(docs)
	if err != nil {
		return nil, err
	}
	return policies{all, authorization.Options{TrustDomain: opts.TrustDomain}}, nil
}

// policies implements [language.Policies].
type policies struct {
	all     []authorization.Policy
	options authorization.Options
}

func (policies) Check(policy.Inbound) error { return nil }

func (p policies) Program(in policy.Inbound) language.Program {
	selection := authorization.Select(p.all, in)
	return language.Program{Program: authorization.Lower(selection, in, p.options), JudgesPlaintext: true}
}

func (p policies) Ignored(in policy.Inbound) []string {
	return capability.Texts(authorization.Select(p.all, in).Ignored)
}

func (p policies) Evaluate(in policy.Inbound) func(policy.Request) policy.Decision {
	return evaluation.ForInbound(p.all, in, p.options)
}

// Locate implements [capability.Locator].
func (p policies) Locate(in policy.Inbound) func(policy.Request) (decides, shadow string) {
	return func(r policy.Request) (string, string) { return evaluation.Locate(p.all, in, p.options, r), "" }
}

// FullNames implements [capability.Namer]. A policy has a full name for each of its rules.
func (p policies) FullNames(plain string) []string {
	return capability.FullNamesOf(p.all, plain, func(one authorization.Policy) (string, []string) { return one.Resource().Metadata.Name, one.Origins() })
}

func (p policies) Lint(inbounds []policy.Inbound) []policy.Warning {
	return authorization.Lint(p.all, inbounds)
}

// Targets implements [capability.Targeter].
func (p policies) Targets() []capability.Target { return authorization.Targets(p.all) }

func (policies) Notes([]policy.Decision) []string { return nil }

// Tree implements [capability.Grower]: it is always an error, which says why.
func (policies) Tree(policy.Inbound) (capability.Tree, error) {
	return nil, errors.New("policy/gateway: an AuthorizationPolicy is lowered to named rules, which have no decision tree")
}

// Nouns implements [capability.Lister].
func (dialect) Nouns() []string {
	return []string{"authorizationpolicy", "authorizationpolicies", "xauthorizationpolicy", "xauthorizationpolicies"}
}

// Objects implements [capability.Lister].
func (dialect) Objects(docs []manifest.Document, pods []policy.Workload) ([]capability.Object, error) {
	return authorization.Objects(owned(docs), pods)
}

// Inherited implements [capability.Inheritor].
func (dialect) Inherited(docs []manifest.Document, pod policy.Workload) ([]capability.Inherited, error) {
	all, err := authorization.ParseAll(owned(docs))
	if err != nil {
		return nil, err
	}
	return authorization.InheritedPolicies(all, pod), nil
}

func owned(docs []manifest.Document) []manifest.Document {
	return slices.DeleteFunc(slices.Clone(docs), func(doc manifest.Document) bool { return !authorization.Owns(doc) })
}

// Status returns, as JSON, the status that a controller would publish for the
// document, given the pods there are (GEP-713). It has one condition, Accepted.
func Status(doc manifest.Document, pods []policy.Workload) (json.RawMessage, error) {
	return json.Marshal(authorization.Status(doc, pods))
}
