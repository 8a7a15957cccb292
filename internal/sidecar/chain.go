package sidecar

import (
	"fmt"
	"strings"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_authz/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	networkrbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// chain reads one filter chain, or filters without one.
type chain struct {
	*reader
	inbound Inbound
	leads   leading
	// others are the filters of other kinds. They are told about once it is clear on which
	// side of the RBAC filters they are.
	others []otherFilter
	// ended is set by a network filter that passes connections to no other filter.
	ended bool
	// observes is set by an RBAC filter with a shadow that enforces nothing.
	observes bool
	// observesBefore is what observes was in front of the last RBAC filter, and behindRBAC is true right
	// behind one.
	observesBefore, behindRBAC bool
	// askers are the names of the HTTP filters that ask an authorizer.
	askers []string
	// judges is the number of RBAC filters so far, with the lost filters.
	judges int
	// observers are the names of the filters of the lab that were skipped.
	observers []string
	// replaceable are the names of the HTTP filters that a route may replace by another
	// RBAC filter. Lost and disabled filters are among them.
	replaceable []string
	disabled    bool
	// tokens are the names of the filters for tokens.
	tokens []string
	// refusals are the filters that do nothing but delay and end requests.
	refusals []refusal
	// readsSNI is true behind a TLS inspector.
	readsSNI bool
	// remote says where the connection manager has the remote address from; "" for the
	// connection.
	remote string
	// rewritten are the settings that change what the HTTP filters see.
	rewritten []rewritten
}

func (r *reader) chain(l *listenerv3.Listener, socket *corev3.SocketAddress, of *listenerv3.FilterChain, label string, g guarded) {
	// What the listener itself logs is kept with its other chains.
	if isCanary(of) && (len(l.FilterChains) > 1 || l.DefaultFilterChain != nil || len(l.AccessLog) == 0) {
		r.skip(l.Name, label, "the canary of meshproof: no workload has its address")
		return
	}
	c := chain{reader: r, inbound: Inbound{
		Listener:    l.Name,
		Chain:       label,
		Address:     r.address(l, socket, of.FilterChainMatch),
		Socket:      socketOf(socket),
		IPv4Compat:  socket.GetIpv4Compat(),
		Destination: r.destinationOf(l, socket, of.FilterChainMatch),
		Match:       of.FilterChainMatch,
		Default:     of == l.DefaultFilterChain,
		listener:    l,
		Protocol:    policy.TCP,
	}}
	c.readsSNI = r.inspectsTLS(l)
	c.leads = r.leadsOf(l, of)
	c.inbound.PassesOn = c.inbound.Address.Addr().IsUnspecified() && asksForPort(of.FilterChainMatch) && r.passesThrough(l, r.leadsOf(l, chainsOf(l)...))
	c.leads.chain = of
	if c.inbound.PassesOn {
		// Which connections it gets is held against the Dataplanes.
		clear(c.leads.destinations)
	}
	if r.leadsNowhere(l, c.leads, g) && r.isQuiet(of, false) {
		r.skip(l.Name, label, "it leads to a cluster without endpoints: no connection passes")
		return
	}
	if reason := unreached(l, socket, of.FilterChainMatch); reason != "" {
		c.tellIdle(dump.Exposed, "", "", reason)
	}
	if socket != nil && !c.inbound.Address.IsValid() {
		c.tellIdle(dump.Exposed, "", "", "it serves no address that a caller can connect to")
	}
	for _, reason := range c.leads.calls.unread {
		c.found.add(c.unknown(dump.BesideRBAC, "", reason))
	}
	c.inbound.Transport = c.transport(of)
	for _, f := range of.Filters {
		held := r.configurationOf(f)
		if held.missing != "" {
			c.lostFilter(f, held)
			continue
		}
		c.networkFilter(f.Name, held)
	}
	c.close()
}

// close adds the inbound to the sidecar.
func (c *chain) close() {
	for _, s := range c.others {
		switch {
		case s.unknown.Kind == dump.Lost:
		case s.judgesBefore < c.judges:
			s.setPosition(dump.InFront)
			if s.unknown.Kind == dump.BesideRBAC && s.refuses {
				s.unknown.Kind = dump.Note
			}
		case c.judges > 0:
			s.setPosition(dump.BehindRBAC)
			if s.unknown.Kind == dump.BesideRBAC && s.contained && !c.goesOn() {
				s.unknown.Kind = dump.Note
				if s.rewrites {
					c.inbound.Rewrites = append(c.inbound.Rewrites, fmt.Sprintf("filter %q may change the path", s.unknown.Filter))
				}
			}
		}
		c.found.add(s.unknown)
	}
	if !c.readsSNI && rbac.AskForSNI(c.inbound.Filters.Messages()) {
		c.tellIdle(dump.BesideRBAC, "", "", "a filter asks for the server name (SNI), and the listener has no TLS inspector that reads every handshake: Envoy knows no server name then, and no caller matches")
	}
	if c.remote != "" && c.asksForRemote() {
		c.tellIdle(dump.Opaque, "", "", "a filter asks for the remote address, and "+c.remote+": no caller of the lab plays it")
	}
	c.tellRewritten()
	c.sidecar.Inbounds = append(c.sidecar.Inbounds, c.inbound)
	c.reader.leads = append(c.reader.leads, c.leads)
}

// asksForRemote reports whether an HTTP filter asks for the remote address.
func (c *chain) asksForRemote() bool {
	p, _ := lift.Program(xds.Filters{HTTP: c.inbound.Filters.HTTP, Routes: c.inbound.Filters.Routes}, 0)
	return reads(p, attribute.RemoteAddress)
}

// goesOn reports whether any filter behind RBAC may have a part in the authorization: it may
// act on the metadata of an RBAC filter that only observes, or it may take a request to a
// route that RBAC would have judged otherwise.
func (c *chain) goesOn() bool { return c.observes || len(c.inbound.Filters.Routes) > 0 }

// networkFilter reads a network filter.
func (c *chain) networkFilter(name string, held configuration) {
	if c.ended {
		c.tellIdle(dump.BesideRBAC, name, held.typeURL, "it stands behind the last filter: nothing reaches it")
	}
	c.tellFaults(name, held.faults)
	m, _, err := messages.Unpack(held.packed)
	behindRBAC := c.behindRBAC && len(held.faults) == 0
	c.behindRBAC = false
	switch m := m.(type) {
	case *networkrbacv3.RBAC:
		if isObserver(name, m) {
			return
		}
		c.network(name, m)
	case *networkauthzv3.ExtAuthz:
		if !c.networkAsksBehind(name, m, behindRBAC) {
			c.noteOther(name, messages.TypeURL(held.packed), m, err)
		}
	case *hcmv3.HttpConnectionManager:
		c.ended = true
		c.http(name, m)
	case *tcpproxyv3.TcpProxy:
		c.ended = true
		c.inbound.StatPrefix = m.StatPrefix
		c.noteOther(name, messages.TypeURL(held.packed), m, err)
	default:
		c.noteOther(name, messages.TypeURL(held.packed), m, err)
	}
}

// noteOther notes a filter that is no RBAC filter, or a filter that cannot be read.
func (c *chain) noteOther(name, typeURL string, m proto.Message, err error) {
	message := messages.Name(typeURL)
	if err != nil && (messages.Authorizes(message) || message == httpManager || messages.IsTypedStruct(message)) {
		c.noteFilter(dump.Lost, name, typeURL, err.Error())
		c.others[len(c.others)-1].unknown.Idle = messages.Authorizes(message)
		return
	}
	kind, reason, tell := roleOf(message)
	conditioned := mayBeSkipped(m)
	if conditioned {
		kind, reason = dump.BesideRBAC, "it aborts or delays requests under conditions of its own"
	}
	if !tell {
		checkPassing(m.ProtoReflect(), nil, func(at *messages.Path, reason string) {
			u := c.unknown(dump.BesideRBAC, name, reason)
			u.Path = at.String()
			c.found.add(u)
		})
		return
	}
	contained, rewrites := containedFilters[message] || conditioned, rewritingFilters[message] || hidesKeys(m) || changesLine(m)
	if written, ok := changesByFilter(m); ok {
		c.rewritten = append(c.rewritten, written)
	}
	if script, ok := m.(*luav3.Lua); ok {
		c.checkKnown(name, script)
		why := unprovenLua(script)
		if contained = why == ""; !contained {
			reason += "; " + why
		}
		for _, source := range sourcesOf(script) {
			_, all := headersOf(source)
			rewrites = rewrites || !all
			c.rewritten = append(c.rewritten, changesByScript(source))
		}
	}
	c.noteFilter(kind, name, typeURL, reason)
	other := &c.others[len(c.others)-1]
	other.contained, other.rewrites, other.unknown.Idle = contained, rewrites, contained
	if keepsOwnState(m) {
		other.contained, other.refuses, other.unknown.Idle = true, true, true
	} else if other.refuses = refusesAlone(m); other.refuses {
		c.refusals = append(c.refusals, refusal{name, c.judges})
	}
}

func (c *chain) network(name string, from *networkrbacv3.RBAC) {
	if !c.judge(name, from) {
		return
	}
	c.inbound.Guards = append(c.inbound.Guards, Guard{
		Filter: name, Layer: policy.L4,
		StatPrefix: from.StatPrefix, ShadowRulesStatPrefix: from.ShadowRulesStatPrefix,
		Enforces: enforces(from),
	})
	filter := proto.CloneOf(from)
	filter.StatPrefix = ""
	if filter.ShadowRules == nil && filter.ShadowMatcher == nil {
		filter.ShadowRulesStatPrefix = ""
	}
	c.inbound.Filters.Network = append(c.inbound.Filters.Network, filter)
	c.behindRBAC = true
}

func (c *chain) addHTTP(name, statPrefix string, from *httprbacv3.RBAC) {
	if !c.judge(name, from) {
		return
	}
	c.inbound.Guards = append(c.inbound.Guards, Guard{
		Filter: name, Layer: policy.L7, StatPrefix: statPrefix,
		RulesStatPrefix: from.RulesStatPrefix, ShadowRulesStatPrefix: from.ShadowRulesStatPrefix,
		Enforces: enforces(from),
	})
	c.inbound.Filters.HTTP = append(c.inbound.Filters.HTTP, withoutPrefix(from))
	c.behindRBAC = true
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

// rbacFilter is an RBAC filter of either layer.
type rbacFilter interface {
	proto.Message
	GetRules() *rbacv3.RBAC
	GetMatcher() *matcherv3.Matcher
	GetShadowRules() *rbacv3.RBAC
	GetShadowMatcher() *matcherv3.Matcher
}

// enforces reports whether a filter can refuse a request.
func enforces(f rbacFilter) bool {
	return f.GetMatcher() != nil || f.GetRules() != nil && f.GetRules().Action != rbacv3.RBAC_LOG
}

// judge counts an RBAC filter, and reports whether all of it could be read. A filter that
// only logs is no judge: what is not understood there is a note.
func (c *chain) judge(name string, f rbacFilter) bool {
	shadow := f.GetShadowRules() != nil || f.GetShadowMatcher() != nil
	logs := f.GetRules() != nil && !enforces(f) && !shadow
	if !logs {
		c.judges++
	}
	c.observesBefore = c.observes
	c.observes = c.observes || shadow && !enforces(f)
	return c.inspect(name, f, logs)
}

// inspect tells what of a filter is not understood, and reports whether all of it could be
// read. A filter that was read in part is left out, because it would judge otherwise.
func (c *chain) inspect(name string, m proto.Message, logs bool) bool {
	whole := true
	inspect(m, func(u dump.Unknown) {
		whole = whole && u.Kind != dump.Lost
		u.Listener, u.Chain, u.Filter, u.Idle = c.inbound.Listener, c.inbound.Chain, name, true
		if logs {
			u.Kind = dump.Note
		}
		c.found.add(u)
	})
	return whole
}

// addUnattached adds an inbound of filters that came without a listener.
func (r *reader) addUnattached(l dump.Unattached) {
	c := chain{reader: r, readsSNI: true, inbound: Inbound{Listener: l.File, Chain: l.Inbound, Protocol: policy.TCP, Transport: OtherTransport}}
	for _, f := range l.Filters {
		name := f.Name
		c.tellFaults(name, f.Faults)
		m, _, err := messages.Unpack(f.Message)
		switch m := m.(type) {
		case *networkrbacv3.RBAC:
			c.network(name, m)
		case *httprbacv3.RBAC:
			c.inbound.Protocol = policy.HTTP
			c.addHTTP(name, "", m)
		case *httprbacv3.RBACPerRoute:
			c.tellIdle(dump.Lost, name, f.Message.TypeUrl, "a filter of a route, without its route")
		default:
			c.noteOther(name, messages.TypeURL(f.Message), m, err)
		}
	}
	if rbac.AskForSNI(c.inbound.Filters.Messages()) {
		c.tell(dump.Note, "", "", "a filter asks for the server name (SNI): its listener needs a TLS inspector, or no caller matches")
	}
	if l.Protocol != "" && c.inbound.Protocol.UnmarshalText([]byte(l.Protocol)) != nil {
		c.tellIdle(dump.BesideRBAC, "", "", fmt.Sprintf("protocol %q is none that meshproof knows", l.Protocol))
	}
	c.close()
}

// What package xds puts into its listeners besides the filters of an inbound.
const (
	observerName      = "meshproof.effective_policy"
	canaryName        = "canary"
	canaryDestination = "240.0.0.1"
)

// isObserver reports whether a filter is one of the filters of the lab that tell the
// effective policy. It is skipped only because it refuses no request.
func isObserver(name string, f rbacFilter) bool {
	return (name == observerName || strings.HasPrefix(name, observerName+".")) && f.GetRules() == nil && f.GetMatcher() == nil
}

// isCanary reports whether a filter chain is the chain where the lab reads the version.
// No workload can have its destination, and it leads to none.
func isCanary(chain *listenerv3.FilterChain) bool {
	ranges := chain.GetFilterChainMatch().GetPrefixRanges()
	return chain.GetName() == canaryName && len(ranges) == 1 && len(chain.Filters) == 1 &&
		messages.Name(messages.TypeURL(chain.Filters[0].GetTypedConfig())) == directResponse &&
		ranges[0].GetAddressPrefix() == canaryDestination && ranges[0].GetPrefixLen().GetValue() == 32
}
