package sidecar

import (
	"fmt"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
)

// knownTunneled lists what RBAC may ask for of a connection inside of a tunnel: the name of the caller as the tunnel keeps it, the port, and
// what the request itself says. The certificate of a caller and its address are those of the tunnel, so that a rule by them judges otherwise.
var knownTunneled = messages.Closed{
	networkRBAC:                   {messages.Read: "rules shadow_rules", apart: "enforcement_type", measures: "stat_prefix shadow_rules_stat_prefix"},
	httpRBAC:                      {messages.Read: "rules shadow_rules", measures: "rules_stat_prefix shadow_rules_stat_prefix"},
	"envoy.config.rbac.v3.RBAC":   {messages.Read: "policies", apart: "action"},
	"envoy.config.rbac.v3.Policy": {messages.Read: "permissions principals"},
	"envoy.config.rbac.v3.Permission": {
		messages.Read: "and_rules or_rules not_rule",
		apart:         "any header url_path destination_port destination_port_range metadata",
	},
	"envoy.config.rbac.v3.Permission.Set": {messages.Read: "rules"},
	"envoy.config.rbac.v3.Principal": {
		messages.Read: "and_ids or_ids not_id filter_state",
		apart:         "any header metadata",
	},
	"envoy.config.rbac.v3.Principal.Set":       {messages.Read: "ids"},
	"envoy.type.matcher.v3.FilterStateMatcher": {apart: "key string_match"},
}

var checkTunneled = knownTunneled.Checker()

// tunneledChain lists the fields of a chain inside of a tunnel.
var tunneledChain = messages.Closed{
	"envoy.config.listener.v3.FilterChain":      {messages.Read: "filter_chain_match", apart: "filters", measures: "name metadata"},
	"envoy.config.listener.v3.FilterChainMatch": {apart: "destination_port prefix_ranges", narrows: "application_protocols"},
	"google.protobuf.UInt32Value":               {apart: "value"},
}

var checkTunneledChain = tunneledChain.Checker()

// repeats says which chain behind tunnels has not the filters of a chain of the listener for redirected connections, for the same port of this
// machine and callers of the same CAs; "" where each has. No port has a chain there alone: tunnels to it would come to the chain for all other
// ports.
func (r *reader) repeats(end tunnelEnd, redirected *listenerv3.Listener) string {
	outer, ok := r.secured(end.outer.FilterChains[0])
	if !ok {
		return "it does not demand a certificate of the mesh"
	}
	twins := map[uint32][]*listenerv3.FilterChain{}
	for _, twin := range redirected.FilterChains {
		twins[portOf(twin)] = append(twins[portOf(twin)], twin)
	}
	ports, labels := map[uint32]bool{}, labelsOf(end.inner)
	for i, chain := range end.inner.FilterChains {
		ports[portOf(chain)] = true
		if !r.staysHere(chain) {
			return fmt.Sprintf("the chain %q of %q takes more than tunnels to the addresses of the pod", labels[i], end.inner.Name)
		}
		filters, ok := partsOf(chain, true)
		if !ok || !slices.ContainsFunc(twins[portOf(chain)], func(twin *listenerv3.FilterChain) bool {
			others, ok := partsOf(twin, false)
			if !ok || !slices.EqualFunc(filters, others, filterPart.equals) {
				return false
			}
			of, _ := r.secured(twin)
			return of.Transport == MutualTLS && slices.Equal(of.TrustDomains, outer.TrustDomains) && slices.Equal(of.SharedDomains, outer.SharedDomains)
		}) {
			return fmt.Sprintf("no chain of %q over mTLS is known to judge as the chain %q of %q does", redirected.Name, labels[i], end.inner.Name)
		}
	}
	for _, chain := range redirected.FilterChains {
		own := slices.ContainsFunc(sockets(redirected), func(s *corev3.SocketAddress) bool { return s.GetPortValue() == portOf(chain) })
		if portOf(chain) != 0 && !ports[portOf(chain)] && !own {
			return fmt.Sprintf("%q has no chain for port %d, as %q has", end.inner.Name, portOf(chain), redirected.Name)
		}
	}
	return ""
}

func portOf(chain *listenerv3.FilterChain) uint32 {
	return chain.GetFilterChainMatch().GetDestinationPort().GetValue()
}

// staysHere reports whether a chain takes no connections but those to the addresses that the node states of its pod: a tunnel may name any.
func (r *reader) staysHere(chain *listenerv3.FilterChain) bool {
	here := len(chain.GetFilterChainMatch().GetPrefixRanges()) > 0
	checkTunneledChain(chain.ProtoReflect(), nil, func(*messages.Path, string) { here = false })
	for _, block := range chain.GetFilterChainMatch().GetPrefixRanges() {
		ip, err := parseIP(block.GetAddressPrefix())
		here = here && err == nil && block.GetPrefixLen().GetValue() == uint32(ip.BitLen()) && r.statesAddress(ip) && ip.IsGlobalUnicast()
	}
	return here
}

// secured returns what a chain demands of its callers, and whether it is mTLS of the mesh.
func (r *reader) secured(of *listenerv3.FilterChain) (Inbound, bool) {
	apart := *r
	apart.found = findings{}
	c := chain{reader: &apart}
	c.inbound.Transport = c.transport(of)
	return c.inbound, c.inbound.Transport == MutualTLS && len(apart.found.list) == 0
}

// filterPart is a filter, or a connection manager without its filters.
type filterPart struct {
	name               string
	message            proto.Message
	disabled, optional bool
}

func (p filterPart) equals(other filterPart) bool {
	return p.name == other.name && p.disabled == other.disabled && p.optional == other.optional && proto.Equal(p.message, other.message)
}

// partsOf returns the filters of a chain and of its connection manager, without those that say who callers are for telemetry. False is for a
// chain that has others than are known, or routes with filters of their own. The rules of a tunneled chain ask for the name that the tunnel
// keeps, and are returned as if they asked for the certificate.
func partsOf(chain *listenerv3.FilterChain, tunneled bool) (parts []filterPart, ok bool) {
	ok = true
	add := func(name string, packed *anypb.Any, disabled, optional bool) proto.Message {
		m, faults, err := messages.Unpack(packed)
		of := messages.Name(messages.TypeURL(packed))
		if err != nil {
			// The text of one that nothing can be lost of says enough.
			m = packed
		}
		ok = ok && len(faults) == 0 && (err == nil || containedFilters[of])
		switch {
		case !ok:
			return nil
		case of == metadataExchange || of == peerMetadata:
			checkPassing(m.ProtoReflect(), nil, func(*messages.Path, string) { ok = false })
			return nil
		case of == httpManager:
			return m
		case messages.Authorizes(of):
			if tunneled {
				m, ok = asOfCertificate(m, ok)
			}
		default:
			_, tokens := m.(*jwtauthnv3.JwtAuthentication)
			ok = ok && (tokens || passing[of] != nil || containedFilters[of])
		}
		parts = append(parts, filterPart{name, m, disabled, optional})
		return nil
	}
	for _, f := range chain.Filters {
		ok = ok && f.GetConfigDiscovery() == nil
		manager, _ := add(f.Name, f.GetTypedConfig(), false, false).(*hcmv3.HttpConnectionManager)
		if manager == nil {
			continue
		}
		manager = proto.CloneOf(manager)
		for _, f := range manager.HttpFilters {
			ok = ok && f.GetConfigDiscovery() == nil
			add(f.Name, f.GetTypedConfig(), f.Disabled, f.IsOptional)
		}
		manager.HttpFilters = nil
		parts = append(parts, filterPart{name: f.Name, message: manager})
		ok = ok && manager.GetRouteConfig() != nil && !overridesAny(manager)
	}
	return parts, ok
}

// overridesAny reports whether some requests of a connection manager pass other filters.
func overridesAny(m *hcmv3.HttpConnectionManager) (found bool) {
	eachOverride(m.GetRouteConfig(), func(string, *anypb.Any) { found = true })
	return found || m.GetRouteConfig().GetVhds() != nil || slices.ContainsFunc(m.UpgradeConfigs, func(u *hcmv3.HttpConnectionManager_UpgradeConfig) bool { return len(u.Filters) > 0 })
}

// asOfCertificate returns a filter of RBAC whose rules ask for the certificate of the caller in the place of the name that its tunnel keeps.
func asOfCertificate(m proto.Message, ok bool) (proto.Message, bool) {
	switch m.(type) {
	case *networkrbacv3.RBAC, *httprbacv3.RBAC:
	default:
		return m, false
	}
	checkTunneled(m.ProtoReflect(), nil, func(*messages.Path, string) { ok = false })
	m = proto.Clone(m)
	eachMessage(m, func(m proto.Message) {
		principal, _ := m.(*rbacv3.Principal)
		kept := principal.GetFilterState()
		if kept == nil {
			return
		}
		ok = ok && kept.Key == peerPrincipal && kept.GetStringMatch() != nil
		principal.Identifier = &rbacv3.Principal_Authenticated_{Authenticated: &rbacv3.Principal_Authenticated{PrincipalName: kept.GetStringMatch()}}
	})
	return m, ok
}
