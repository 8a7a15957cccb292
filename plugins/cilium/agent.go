package main

import (
	"cmp"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"

	npds "github.com/cilium/proxy/go/cilium/api"

	"github.com/cilium/cilium/pkg/crypto/certificatemanager"
	"github.com/cilium/cilium/pkg/endpoint/regeneration"
	"github.com/cilium/cilium/pkg/envoy"
	envoypolicy "github.com/cilium/cilium/pkg/envoy/policy"
	"github.com/cilium/cilium/pkg/identity"
	k8s "github.com/cilium/cilium/pkg/k8s/utils"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/labelsfilter"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/api"
	"github.com/cilium/cilium/pkg/policy/types"
	"github.com/cilium/cilium/pkg/policy/utils"
	"github.com/cilium/cilium/pkg/proxy/accesslog"
	"github.com/cilium/cilium/pkg/u8proto"
)

// logger writes the errors of Cilium to standard error.
var logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))

// subject is the number of the inbound's own identity. Those of the peers follow it.
const subject = identity.NumericIdentity(identity.MinimalNumericIdentity)

// caller is an identity that a caller can have: a workload with its SPIFFE ID, or a block of
// addresses of the world.
type caller struct {
	number identity.NumericIdentity
	labels labels.LabelArray
	spiffe string
	block  netip.Prefix
}

// callersOf returns the workloads, and the blocks that the agent has identities for: the two
// families of the world, and all blocks of the policies.
func (r request) callersOf(entries types.PolicyEntries) []caller {
	var out []caller
	for i, p := range r.Peers {
		out = append(out, caller{number: subject + 1 + identity.NumericIdentity(i), labels: r.Options.labelsOf(p.Workload), spiffe: p.Identity})
	}
	world := map[netip.Prefix]identity.NumericIdentity{
		netip.PrefixFrom(netip.IPv4Unspecified(), 0): identity.ReservedIdentityWorldIPv4,
		netip.PrefixFrom(netip.IPv6Unspecified(), 0): identity.ReservedIdentityWorldIPv6,
	}
	blocks := policy.GetCIDRPrefixes(entries)
	for block := range world {
		blocks = append(blocks, block)
	}
	for i := range blocks {
		blocks[i] = blocks[i].Masked()
	}
	slices.SortFunc(blocks, func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	for i, block := range slices.Compact(blocks) {
		number, ok := world[block]
		if !ok {
			number = identity.IdentityScopeLocal + identity.NumericIdentity(i) + 1
		}
		out = append(out, caller{number: number, labels: labels.GetCIDRLabels(block).LabelArray(), block: block})
	}
	return out
}

// named is a namespace with its labels.
type named struct {
	name   string
	labels map[string]string
}

func (n named) GetName() string              { return n.name }
func (n named) GetLabels() map[string]string { return n.labels }

// labelsOf returns the labels of the identity that the agent gives to a pod, without those that its
// default list leaves out. Kubernetes labels each namespace with its name.
func (o options) labelsOf(w workload) labels.LabelArray {
	of := named{cmp.Or(w.Namespace, "default"), map[string]string{}}
	for key, value := range o.Cilium.NamespaceLabels[of.name] {
		of.labels[key] = value
	}
	of.labels["kubernetes.io/metadata.name"] = of.name
	all := labels.Map2Labels(k8s.SanitizePodLabels(w.Labels, of, w.ServiceAccount, o.Cilium.ClusterName), labels.LabelSourceK8s)
	ofIdentity, _ := labelsfilter.Filter(all)
	return ofIdentity.LabelArray()
}

// agent is what the agent of a node computes for the endpoint of one inbound.
type agent struct {
	endpoint endpoint
	datapath *policy.EndpointPolicy
	// proxy are the rules that the proxy gets.
	proxy *npds.NetworkPolicy
	// closes is true where one of the rules sets default deny. It has no part in a verdict.
	closes bool
}

// modes are the types of authentication by their names (getAuthType in pkg/policy/l4.go).
var modes = map[api.AuthenticationMode]types.AuthType{
	api.AuthenticationModeDisabled:   types.AuthTypeDisabled,
	api.AuthenticationModeRequired:   types.AuthTypeSpire,
	api.AuthenticationModeAlwaysFail: types.AuthTypeAlwaysFail,
}

// redirects reports whether a rule sends some caller that it lets in to the proxy. It has no part
// in a verdict: the rule may bound nothing, and another rule may shut all of these callers out.
func (a *agent) redirects(callers []caller) bool {
	for _, tier := range a.datapath.SelectorPolicy.L4Policy.Ingress.PortRules {
		for filter := range tier.Filters() {
			if !a.isPort(filter) {
				continue
			}
			for selector, rule := range filter.PerSelectorPolicies {
				lets := func(c caller) bool {
					return (selector.IsWildcard() || selector.Selects(c.number)) && (rule.Authentication == nil || proves(modes[rule.Authentication.Mode], c))
				}
				if rule.IsRedirect() && slices.ContainsFunc(callers, lets) {
					return true
				}
			}
		}
	}
	return false
}

func (a *agent) isPort(filter *policy.L4Filter) bool {
	port := filter.Port
	if filter.PortName != "" {
		port = a.endpoint.GetIngressNamedPort(filter.PortName, filter.U8Proto)
	}
	own := a.endpoint.inbound.Port
	return port <= own && own <= max(port, filter.EndPort)
}

// enforces reports whether any rule is about the endpoint.
func (a *agent) enforces() bool { return a.datapath.SelectorPolicy.IngressPolicyEnabled }

// unresolvedError says that the agent cannot apply the policies together. It keeps what it had.
type unresolvedError struct{ error }

// newAgent computes the policy of the inbound's endpoint.
func (r request) newAgent(entries types.PolicyEntries, callers []caller) (*agent, error) {
	option.Config.ClusterName = r.Options.Cilium.ClusterName
	mode := cmp.Or(r.Options.Cilium.PolicyEnforcement, option.DefaultEnforcement)
	policy.SetPolicyEnabled(mode)
	own := identity.NewIdentityFromLabelArray(subject, r.Options.labelsOf(r.Inbound.Workload))
	known := identity.IdentityMap{own.ID: own.LabelArray}
	for _, c := range callers {
		known[c.number] = c.labels
	}
	// No secret of a cluster is there.
	secrets := certificatemanager.NewMockSecretManagerNotFound()
	translator := envoypolicy.NewEnvoyL7RulesTranslator(logger, secrets)
	repository := policy.NewPolicyRepository(logger, known, nil, translator, nil, nil)
	repository.UpdateIdentities(identity.IdentityMap{own.ID: own.LabelArray}, nil)
	repository.MustAddPolicyEntries(entries)
	resolved, _, err := repository.ComputeSelectorPolicy(own)
	if err != nil {
		return nil, unresolvedError{err}
	}
	closes := func(e *types.PolicyEntry) bool {
		return !e.Node && e.DefaultDeny && e.Subject.Matches(own.LabelArray)
	}
	out := &agent{endpoint: endpoint{r.Inbound}, closes: mode == option.AlwaysEnforce || slices.ContainsFunc(entries, closes)}
	// The number of the redirect is not looked at.
	out.datapath = resolved.DistillPolicy(logger, out.endpoint, map[string]uint16{policy.FallbackRedirectID: 1})
	of := out.datapath.SelectorPolicy
	// The proxy's rules come first: Ready drops what the selectors have selected.
	out.proxy = envoy.GetNetworkPolicy(out.endpoint, of.GetEgressNamedPorts, out.datapath.GetPolicySelectors(), nil, &of.L4Policy,
		of.IngressPolicyEnabled, of.EgressPolicyEnabled, false, false, "", logger, translator)
	return out, out.datapath.Ready()
}

// entriesOf returns the rules of ingress in the form of the agent's repository. Those of egress
// decide nothing of an inbound, and may need secrets.
func entriesOf(rules api.Rules, cluster string) types.PolicyEntries {
	api.InitEntities(cluster)
	return slices.DeleteFunc(utils.RulesToPolicyEntries(rules), func(e *types.PolicyEntry) bool { return !e.Ingress })
}

// endpoint is the inbound's workload as the libraries of Cilium look at it.
type endpoint struct{ inbound inbound }

// GetIngressNamedPort returns the port of the inbound for its name, and 0 for another name.
// Kubernetes takes names in lower case only.
func (e endpoint) GetIngressNamedPort(name string, protocol u8proto.U8proto) uint16 {
	if (protocol == u8proto.TCP || protocol == u8proto.ANY) && name == strings.ToLower(e.inbound.Name) {
		return e.inbound.Port
	}
	return 0
}

func (endpoint) GetID() uint64                                   { return 1 }
func (endpoint) GetPolicyNames() []string                        { return nil }
func (endpoint) GetIPv4Address() string                          { return "" }
func (endpoint) GetIPv6Address() string                          { return "" }
func (endpoint) GetListenerProxyPort(string) uint16              { return 0 }
func (endpoint) IsHost() bool                                    { return false }
func (endpoint) OnProxyPolicyUpdate(uint64)                      {}
func (endpoint) PolicyDebug(string, ...any)                      {}
func (endpoint) PreviousMapStateSizes() (s policy.MapStateSizes) { return s }

func (endpoint) UpdateProxyStatistics(string, string, uint16, uint16, bool, bool, accesslog.FlowVerdict) {
}

func (endpoint) RegenerateIfAlive(*regeneration.ExternalRegenerationMetadata) <-chan bool {
	done := make(chan bool)
	close(done)
	return done
}
