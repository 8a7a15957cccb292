package main

import (
	"cmp"
	"errors"
	"slices"

	npds "github.com/cilium/proxy/go/cilium/api"

	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/types"
	"github.com/cilium/cilium/pkg/u8proto"
)

// verdict is what Cilium does with the connections of a caller.
type verdict struct {
	// passes is true for a connection that reaches the workload, or the proxy in front of it.
	passes bool
	// denied is true where a deny rule says so.
	denied bool
	// lost is true for a connection that the proxy ends, because it is no HTTP.
	lost bool
	// bounded is true where the proxy lets through only what one of the rules matches.
	bounded bool
	rules   []*npds.HttpNetworkPolicyRule
}

// verdictOf asks the datapath's map as the datapath does, and then the rules of the proxy.
func (a *agent) verdictOf(c caller) (verdict, error) {
	entry, _, found := a.datapath.Lookup(policy.IngressKey().WithIdentity(c.number).WithPortProto(u8proto.TCP, a.endpoint.inbound.Port))
	switch {
	case !found || entry.IsDeny():
		return verdict{denied: found}, nil
	case !proves(entry.AuthRequirement.AuthType(), c):
		return verdict{}, nil
	case entry.ProxyPort == 0:
		return verdict{passes: true}, nil
	}
	out, err := a.askProxy(c)
	if a.readsBytes() {
		// The listener of the proxy reads HTTP, which the caller does not speak.
		return verdict{passes: true, lost: true}, err
	}
	return out, err
}

// readsBytes reports whether the callers of the inbound speak no HTTP.
func (a *agent) readsBytes() bool { return a.endpoint.inbound.Protocol == "tcp" }

// proves reports whether the caller proves its identity as a rule demands. The certificate of a
// workload does so in the lab. The world has none that Cilium knows.
func proves(demanded types.AuthType, c caller) bool {
	switch demanded {
	case types.AuthTypeDisabled:
		return true
	case types.AuthTypeSpire:
		return c.spiffe != ""
	default:
		return false
	}
}

// askProxy evaluates the rules as the proxy does (PortNetworkPolicyRules::forEachRule in
// cilium/network_policy.cc of github.com/cilium/proxy): the highest precedence first, deny rules
// before others. A rule for HTTP that does not match is passed over.
func (a *agent) askProxy(c caller) (verdict, error) {
	out := verdict{bounded: true}
	for _, rule := range a.proxyRules() {
		if len(rule.RemotePolicies) > 0 && !slices.Contains(rule.RemotePolicies, uint32(c.number)) {
			continue
		}
		switch {
		case rule.GetDeny():
			return out, nil
		case rule.Verdict != nil, rule.ProxyId != 0, rule.L7Proto != "", len(rule.ServerNames) > 0, rule.DownstreamTlsContext != nil, rule.UpstreamTlsContext != nil:
			return out, errors.New("the proxy has a rule that this program does not know: " + rule.String())
		case len(rule.GetHttpRules().GetHttpRules()) == 0:
			return verdict{passes: true}, nil
		}
		out.passes = true
		out.rules = append(out.rules, rule.GetHttpRules().HttpRules...)
	}
	return out, nil
}

// proxyRules returns the rules for the inbound's port in the order of the proxy.
func (a *agent) proxyRules() (out []*npds.PortNetworkPolicyRule) {
	port := uint32(a.endpoint.inbound.Port)
	for _, p := range a.proxy.IngressPerPortPolicies {
		if p.Port != 0 && (port < p.Port || port > max(p.Port, p.EndPort)) {
			continue
		}
		if len(p.Rules) == 0 {
			// An entry without rules lets everything through, beside other entries too.
			out = append(out, &npds.PortNetworkPolicyRule{})
		}
		out = append(out, p.Rules...)
	}
	behind := func(r *npds.PortNetworkPolicyRule) int {
		if r.GetDeny() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(x, y *npds.PortNetworkPolicyRule) int {
		return cmp.Or(cmp.Compare(y.Precedence, x.Precedence), cmp.Compare(behind(x), behind(y)))
	})
	return out
}
