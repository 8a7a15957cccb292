// Package cilium is the dialect of Cilium: CiliumNetworkPolicy and
// CiliumClusterwideNetworkPolicy, which name peers by the labels of their workloads.
//
// It guarantees that the program and the second opinion decide alike: the two
// implementations share nothing but the parsed text. A refusal names file, line and
// field, and a field that cannot be judged is refused.
//
// Cilium enforces with a proxy and a datapath of its own. The program says what its policies
// mean for the connections and requests of an inbound, plaintext ones too: a dropped packet is
// a closed connection here. It judges ingress only, and knows nothing of Envoy.
package cilium

import (
	"errors"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/cilium/internal/evaluation"
	"github.com/meshproof/meshproof/policy/cilium/internal/networkpolicy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// Dialect reads the policies of Cilium. Its options are one mapping, cilium, with
// policyEnforcement, policyAuditMode, clusterName and namespaceLabels. The peers are the
// workloads of [language.Options].
var Dialect language.Dialect = dialect{}

type dialect struct{}

func (dialect) Name() string { return "cilium" }

// Layer implements [capability.Layered].
func (dialect) Layer() capability.Layer { return capability.Layer{BesideMesh: true} }

func (dialect) Kinds() []manifest.Head { return networkpolicy.Kinds }

// Abbreviations implements [capability.Abbreviator].
func (dialect) Abbreviations() map[string][]string {
	return map[string][]string{"CiliumNetworkPolicy": {"cnp", "ciliumnp"}, "CiliumClusterwideNetworkPolicy": {"ccnp"}}
}

func (dialect) Owns(doc manifest.Document) bool { return networkpolicy.Owns(doc) }

// SpecFields implements [capability.Specified].
func (dialect) SpecFields() []string {
	return networkpolicy.SpecFields()
}

func (dialect) NewOptions() any { return new(networkpolicy.Document) }

func (dialect) Parse(docs []manifest.Document, opts language.Options) (language.Policies, error) {
	own, wrong := networkpolicy.ReadOptions(opts)
	all, err := networkpolicy.ParseAll(docs)
	if err := errors.Join(wrong, err); err != nil {
		return nil, err
	}
	return policies{all, own}, nil
}

// policies implements [language.Policies].
type policies struct {
	all     []networkpolicy.Policy
	options networkpolicy.Options
}

func (p policies) Check(in policy.Inbound) error { return networkpolicy.Check(p.all, in, p.options) }

func (p policies) Program(in policy.Inbound) language.Program {
	out := language.Program{JudgesPlaintext: true, DefaultMTLS: mtls.Permissive}
	if p.Check(in) != nil {
		out.Program = closed
	} else {
		out.Program = networkpolicy.Lower(networkpolicy.Select(p.all, in, p.options), in, p.options)
	}
	return out
}

func (p policies) Ignored(in policy.Inbound) []string {
	return networkpolicy.Select(p.all, in, p.options).Ignored
}

// closed lets no caller in.
var closed = policy.Program{Gates: []policy.Gate{{Layer: policy.L4, Form: policy.Named}}}

func (p policies) Evaluate(in policy.Inbound) func(policy.Request) policy.Decision {
	if p.Check(in) != nil {
		return func(policy.Request) policy.Decision { return policy.Decision{} }
	}
	return evaluation.ForInbound(p.all, in, p.options)
}

// Locate implements [capability.Locator].
func (p policies) Locate(in policy.Inbound) func(policy.Request) (decides, shadow string) {
	return evaluation.Locate(p.all, in, p.options)
}

// FullNames implements [capability.Namer]. A policy has a full name for each of its rules.
func (p policies) FullNames(plain string) []string {
	return capability.FullNamesOf(p.all, plain, func(one networkpolicy.Policy) (string, []string) { return one.Resource().Metadata.Name, one.Origins() })
}

func (p policies) Lint(inbounds []policy.Inbound) []policy.Warning {
	return networkpolicy.Lint(p.all, inbounds, p.options)
}

// Targets implements [capability.Targeter].
func (p policies) Targets() []capability.Target { return networkpolicy.Targets(p.all, p.options) }

// Unproven implements [capability.Truster].
func (p policies) Unproven() (parts []string, demanded bool) { return networkpolicy.Unproven(p.all) }

// Strangers implements [capability.Stranger]: no caller of the lab is a node, and none sends UDP.
func (p policies) Strangers() []string {
	return networkpolicy.LetIn(p.all)
}

// Unplayed implements [capability.Kindred]: no caller of the lab is made for the labels of a namespace.
func (p policies) Unplayed() []string { return p.options.Namespaces() }

// Broader implements [capability.Kindred].
func (p policies) Broader(than capability.Kindred) []string {
	was, ok := than.(policies)
	if !ok {
		return p.Strangers()
	}
	return networkpolicy.Broader(was.all, p.all, was.options, p.options)
}

// Closed implements [capability.Kindred].
func (p policies) Closed() []string { return networkpolicy.Closed(p.all, p.options) }

// Peers implements [capability.PeerNamer].
func (p policies) Peers() []capability.Target { return networkpolicy.Peers(p.all, p.options) }

// Excluded implements [capability.Excluder]: a proof is about the requests that a workload gets.
func (p policies) Excluded() map[string][]string { return networkpolicy.Excluded(p.all) }

// FirstExcluded implements [capability.Excluder].
func (p policies) FirstExcluded(before capability.Excluder) []string {
	was, ok := before.(policies)
	if !ok {
		return nil
	}
	return networkpolicy.FirstCalls(was.all, p.all, was.options)
}

// Notes says that Cilium drops where a caller sees a closed connection here, and which rules are about
// calls of a workload, or about callers and packets that the lab cannot play.
func (p policies) Notes(observed []policy.Decision) (out []string) {
	drops := func(d policy.Decision) bool { return d.Effect == policy.Deny && d.Layer == policy.L4 }
	if slices.ContainsFunc(observed, drops) {
		out = append(out, "a closed connection stands for a packet that Cilium drops: a caller there waits until its own timeout")
	}
	for _, part := range slices.Sorted(maps.Keys(networkpolicy.Excluded(p.all))) {
		out = append(out, part+" is about calls of the workload, and no part of this proof")
	}
	for _, rule := range networkpolicy.UnplayedRules(p.all) {
		out = append(out, rule+" is about callers or packets that the lab cannot play, and that is no part of this proof")
	}
	return out
}
