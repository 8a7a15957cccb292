package sidecar

import (
	"fmt"
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/policy"
)

// chain reads one filter chain, or filters without one.
type chain struct {
	*reader
	in Inbound
	// others are the filters of other kinds. They are told about once it is clear on which
	// side of the RBAC filters they are.
	others []otherFilter
	// judges is the number of RBAC filters so far, with the lost filters.
	judges int
	// replaceable are the names of the HTTP filters that a route may replace by another
	// RBAC filter. Lost and disabled filters are among them.
	replaceable []string
	disabled    bool
}

type otherFilter struct {
	unknown Unknown
	// judgesBefore is the number of RBAC filters in front of it.
	judgesBefore int
}

func (r *reader) chain(l *listenerv3.Listener, of *listenerv3.FilterChain, label string) {
	if isCanary(of) {
		r.skip(l.Name, label, "the canary of meshproof: no workload has its address")
		return
	}
	c := chain{reader: r, in: Inbound{
		Listener: l.Name,
		Chain:    label,
		Address:  address(l, of.FilterChainMatch),
		Match:    of.FilterChainMatch,
		Protocol: policy.TCP,
	}}
	c.in.Transport = c.transport(of)
	for _, f := range of.Filters {
		packed, faults, typeURL, reason := r.extension(f.Name, f.GetTypedConfig(), f.GetConfigDiscovery())
		c.filter(f.Name, packed, faults, typeURL, reason)
	}
	c.close()
}

// close adds the inbound to the sidecar.
func (c *chain) close() {
	for _, s := range c.others {
		switch {
		case s.unknown.Kind == Lost:
		case s.judgesBefore < c.judges:
			s.unknown.setPosition(InFront)
		case c.judges > 0:
			s.unknown.setPosition(Behind)
		}
		c.found.add(s.unknown)
	}
	c.out.Inbounds = append(c.out.Inbounds, c.in)
}

// unknown returns an Unknown of this chain.
func (c *chain) unknown(kind Kind, filter, reason string) Unknown {
	u := Unknown{Kind: kind, Listener: c.in.Listener, Chain: c.in.Chain, Filter: filter, Reason: reason}
	if c.in.Chain == "" && filter != "" {
		u.Position = InFront
	}
	return u
}

func (c *chain) tell(kind Kind, filter, typeURL, reason string) {
	u := c.unknown(kind, filter, reason)
	u.Type = typeURL
	c.found.add(u)
}

func (c *chain) noteFilter(kind Kind, filter, typeURL, reason string) {
	u := c.unknown(kind, filter, reason)
	u.Type = typeURL
	c.others = append(c.others, otherFilter{u, c.judges})
}

// tellFaults tells what the configuration of a filter lost.
func (c *chain) tellFaults(filter string, faults []messages.Fault) {
	for _, f := range faults {
		u := c.unknown(Beside, filter, f.What)
		u.Path = f.At.String()
		if f.Guards {
			u.Kind = Lost
		}
		c.found.add(u)
	}
}

// filter reads a network filter.
func (c *chain) filter(name string, packed *anypb.Any, faults []messages.Fault, typeURL, reason string) {
	if reason != "" {
		c.noteFilter(Lost, name, typeURL, reason)
		return
	}
	c.tellFaults(name, faults)
	m, _, err := messages.Unpack(packed)
	switch m := m.(type) {
	case *networkrbacv3.RBAC:
		if isObserver(name, m) {
			return
		}
		c.network(name, m)
	case *hcmv3.HttpConnectionManager:
		c.http(name, m)
	case *tcpproxyv3.TcpProxy:
		c.in.StatPrefix = m.StatPrefix
	default:
		c.noteOther(name, messages.TypeURL(packed), err)
	}
}

// noteOther notes a filter that is no RBAC filter, or a filter that cannot be read.
func (c *chain) noteOther(name, typeURL string, err error) {
	message := messages.Name(typeURL)
	if err != nil && (messages.Authorizes(message) || message == httpManager || messages.IsTypedStruct(message)) {
		c.noteFilter(Lost, name, typeURL, err.Error())
		return
	}
	if kind, reason, tell := roleOf(message); tell {
		c.noteFilter(kind, name, typeURL, reason)
	}
}

func (c *chain) network(name string, from *networkrbacv3.RBAC) {
	c.judges++
	if !c.inspect(name, from) {
		return
	}
	c.in.Guards = append(c.in.Guards, Guard{
		Filter: name, Layer: policy.L4,
		StatPrefix: from.StatPrefix, ShadowRulesStatPrefix: from.ShadowRulesStatPrefix,
		Enforces: from.Matcher != nil || enforces(from.Rules),
	})
	filter := proto.CloneOf(from)
	filter.StatPrefix = ""
	if filter.ShadowRules == nil && filter.ShadowMatcher == nil {
		filter.ShadowRulesStatPrefix = ""
	}
	c.in.Filters.Network = append(c.in.Filters.Network, filter)
}

func (c *chain) addHTTP(name, statPrefix string, from *httprbacv3.RBAC) {
	c.judges++
	if !c.inspect(name, from) {
		return
	}
	c.in.Guards = append(c.in.Guards, Guard{
		Filter: name, Layer: policy.L7, StatPrefix: statPrefix,
		RulesStatPrefix: from.RulesStatPrefix, ShadowRulesStatPrefix: from.ShadowRulesStatPrefix,
		Enforces: from.Matcher != nil || enforces(from.Rules),
	})
	c.in.Filters.HTTP = append(c.in.Filters.HTTP, withoutPrefix(from))
}

// withoutPrefix returns the filter with the name of its shadow only: the listener of a
// replay sets the prefixes.
func withoutPrefix(from *httprbacv3.RBAC) *httprbacv3.RBAC {
	filter := proto.CloneOf(from)
	filter.RulesStatPrefix = ""
	if filter.ShadowRules == nil && filter.ShadowMatcher == nil {
		filter.ShadowRulesStatPrefix = ""
	}
	return filter
}

// enforces reports whether rules can refuse a request.
func enforces(rules *rbacv3.RBAC) bool {
	return rules != nil && rules.Action != rbacv3.RBAC_LOG
}

// inspect tells what of a filter is not understood, and reports whether all of it could be
// read. A filter that was read in part is left out, because it would judge otherwise.
func (c *chain) inspect(name string, m proto.Message) bool {
	whole := true
	inspect(m, func(u Unknown) {
		u.Listener, u.Chain, u.Filter = c.in.Listener, c.in.Chain, name
		c.found.add(u)
		whole = whole && u.Kind != Lost
	})
	return whole
}

// addUnattached adds an inbound of filters that came without a listener.
func (r *reader) addUnattached(l unattached) {
	c := chain{reader: r, in: Inbound{Listener: l.file, Chain: l.inbound, Protocol: policy.TCP, Transport: OtherTransport}}
	for i, f := range l.filters {
		name := fmt.Sprintf("#%d", i)
		c.tellFaults(name, f.faults)
		m, _, err := messages.Unpack(f.message)
		switch m := m.(type) {
		case *networkrbacv3.RBAC:
			c.network(name, m)
		case *httprbacv3.RBAC:
			c.in.Protocol = policy.HTTP
			c.addHTTP(name, "", m)
		case *httprbacv3.RBACPerRoute:
			c.tell(Lost, name, f.message.TypeUrl, "a filter of a route, without its route")
		default:
			c.noteOther(name, messages.TypeURL(f.message), err)
		}
	}
	if l.protocol != "" && c.in.Protocol.UnmarshalText([]byte(l.protocol)) != nil {
		c.tell(Beside, "", "", fmt.Sprintf("protocol %q is none that meshproof knows", l.protocol))
	}
	c.close()
}

// transport reads what the chain demands of a connection.
func (c *chain) transport(of *listenerv3.FilterChain) Transport {
	for _, reason := range deprecated(of.ProtoReflect()) {
		c.tell(Beside, "", "", reason)
	}
	packed := of.GetTransportSocket().GetTypedConfig()
	switch messages.Name(packed.GetTypeUrl()) {
	case "", rawBuffer:
		if of.GetTransportSocket() != nil && packed == nil {
			c.tell(Beside, of.TransportSocket.Name, "", "the transport socket has no configuration")
			return OtherTransport
		}
		return Plaintext
	}
	m, _, err := messages.Unpack(packed)
	context, ok := m.(*tlsv3.DownstreamTlsContext)
	if err != nil || !ok {
		c.tell(Beside, of.TransportSocket.Name, packed.TypeUrl, "a transport socket that is not TLS")
		return OtherTransport
	}
	if !context.GetRequireClientCertificate().GetValue() {
		return TLS
	}
	if why := unverified(context.GetCommonTlsContext()); why != "" {
		c.tell(Beside, of.TransportSocket.Name, packed.TypeUrl, why)
		return TLS
	}
	return MutualTLS
}

// unverified says why a demanded client certificate proves nothing.
func unverified(common *tlsv3.CommonTlsContext) string {
	var validation *tlsv3.CertificateValidationContext
	switch of := common.GetValidationContextType().(type) {
	case nil:
		return "client certificates are demanded, but there is nothing to verify them by"
	case *tlsv3.CommonTlsContext_ValidationContext:
		validation = of.ValidationContext
	case *tlsv3.CommonTlsContext_CombinedValidationContext:
		validation = of.CombinedValidationContext.GetDefaultValidationContext()
	}
	if validation.GetTrustChainVerification() == tlsv3.CertificateValidationContext_ACCEPT_UNTRUSTED {
		return "client certificates are accepted without verification (ACCEPT_UNTRUSTED)"
	}
	return ""
}

// What package xds puts into its listeners besides the filters of an inbound.
const (
	observerName      = "meshproof.effective_policy"
	canaryName        = "canary"
	canaryDestination = "240.0.0.1"
)

// isObserver reports whether a filter is one of the filters of the lab that tell the
// effective policy. It is skipped only because it refuses no request.
func isObserver(name string, rbac interface {
	GetRules() *rbacv3.RBAC
	GetMatcher() *matcherv3.Matcher
}) bool {
	return (name == observerName || strings.HasPrefix(name, observerName+".")) && rbac.GetRules() == nil && rbac.GetMatcher() == nil
}

// isCanary reports whether a filter chain is the chain in which the lab reads the version.
// No workload can have its destination.
func isCanary(chain *listenerv3.FilterChain) bool {
	ranges := chain.GetFilterChainMatch().GetPrefixRanges()
	return chain.GetName() == canaryName && len(ranges) == 1 &&
		ranges[0].GetAddressPrefix() == canaryDestination && ranges[0].GetPrefixLen().GetValue() == 32
}
