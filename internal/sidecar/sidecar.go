// Package sidecar reads what a live sidecar enforces: the RBAC filters of each of
// its inbounds, out of the configuration dump of an Envoy's admin interface
// ([Dump]), out of files ([Folder]), or from a control plane over ADS ([Fetch]).
//
// It guarantees that everything in front of the workload is read, is harmless, or is named. It knows by name
// what is harmless: each field from the listener to
// the routes that is not on its closed list is a [dump.Unknown], and so is a filter of another
// kind, a type or a field that the xDS API did not have when this was built, a matcher input
// that no policy can ask for, a configuration that is missing. Its kind says what it means:
// [Inbound.Incomplete] is set where [Inbound.Filters] is not the whole authorization. Another
// listener that leads to the workload of an inbound is read as an inbound, even if its direction
// says otherwise. Bad input is an error or an Unknown, never a panic.
//
// It judges no request, runs no Envoy and knows no policy. It looks at clusters and secrets
// only to find where listeners lead and which CAs they trust, and at access logs, tracing
// and statistics only to find where they go: they decide nothing. Whether the CAs are those of
// the mesh, it takes from the name of their secret. Package xds/lift turns the filters back into a program.
package sidecar

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
	"github.com/meshproof/meshproof/xds/lift"
)

// Sidecar is what one Envoy enforces for the workload behind it.
type Sidecar struct {
	// Inbounds are in the order of the listeners and of their filter chains, the
	// default filter chain last.
	Inbounds []Inbound
	// Unknown is what was found and not understood, and notes.
	Unknown []dump.Unknown
	// Skipped are the listeners and filter chains that serve no inbound.
	Skipped []Skipped
	// Envoy is the version that the sidecar states of itself, such as "1.36.4" or
	// "1.41.0-dev"; empty where the dump has no bootstrap.
	Envoy string
	// Nodes say how the sidecar names itself to its control plane, one for each bootstrap.
	Nodes []dump.Node
	// IsDump is set where a dump of an Envoy is among the input, which has a bootstrap.
	IsDump bool

	resources *dump.Resources
}

// Endpoint is an address to which an inbound sends requests.
type Endpoint struct {
	netip.AddrPort
	// OnMachine is set for an address that the sidecar's own machine has for sure: of loopback, of its pod, or one that a
	// listener binds.
	OnMachine bool
	// maybeOwn is set for an address that the machine may have, because a listener or a chain names it.
	maybeOwn bool
	// Mirror is set where it gets copies of requests alone, and no caller its answers.
	Mirror bool
}

// MayBeOnMachine reports whether the sidecar's own machine may have the address.
func (e Endpoint) MayBeOnMachine() bool { return e.OnMachine || e.maybeOwn }

// Skipped is a listener or a filter chain that was left out, with the reason.
type Skipped struct {
	Listener string
	// Chain is empty where it is the whole listener.
	Chain  string
	Reason string
}

// Inbound is one filter chain of an inbound listener.
type Inbound struct {
	// Listener is the listener's name, its address where it has none, or the file of
	// filters without a listener.
	Listener string
	// Chain is the name of the filter chain, unique in its listener. A chain without a
	// name, or with the name of an earlier chain, has its index behind it, as in "#2".
	Chain string
	// Address combines the match of the chain with the address of the listener. The IP is
	// unspecified where every IP is served, the port is 0 where every port is. The zero
	// value is an address that is no IP, such as the address of an internal listener.
	Address netip.AddrPort
	// Socket is the address of its listener as it stands there, also one of IPv4 in the notation of IPv6. IPv4Compat is
	// set where such a socket of IPv6 gets connections of IPv4 too.
	Socket     netip.AddrPort
	IPv4Compat bool
	// Destination is the address of IPv4 that callers connect to. The zero value is an inbound of
	// which the sidecar does not say it.
	Destination netip.Addr
	// Match is the chain's own match, with all criteria; nil where it has none.
	Match *listenerv3.FilterChainMatch
	// Default is set for the chain of connections that no other chain of the listener takes.
	Default bool
	// PassesOn is set where its listener sends redirected connections on to where they were going, and does nothing else:
	// those that no other listener gets.
	PassesOn bool
	// Protocol is TCP without an HTTP connection manager, HTTP2 where only that is
	// spoken, else HTTP. Nothing tells gRPC from HTTP/2.
	Protocol  policy.Protocol
	Transport Transport
	// Permissive is set where the listener serves the same address over another chain
	// with a weaker transport.
	Permissive bool
	// TrustDomains are the trust domains that a SPIFFE validator has CAs of, each of its own; none without such a validator.
	// Envoy chooses the CAs by the first URI of a certificate, so that each CA may give names of all others behind it.
	TrustDomains []string
	// SharedDomains are the trust domains of which one list of CAs may give names: each CA may give the names of the others. They are
	// sorted.
	SharedDomains []string
	// StatPrefix is the stat prefix of the HTTP connection manager, or of the TCP proxy.
	StatPrefix string
	// Filters are the RBAC filters without their stat prefixes, which Guards has, and
	// without what package xds puts into its own listeners.
	Filters xds.Filters
	// Guards has one entry for each filter of Filters.Network and then of Filters.HTTP.
	Guards []Guard
	// Normalization, ForwardClientCert and UseRemoteAddress are the HTTP connection
	// manager's settings that change what its filters see: the path, the header
	// x-forwarded-client-cert, and whether the source address is the connection's.
	Normalization     policy.PathNormalization
	ForwardClientCert hcmv3.HttpConnectionManager_ForwardClientCertDetails
	UseRemoteAddress  bool
	// TrustedHops is the number of entries of x-forwarded-for that the manager trusts, the last
	// ones: the first of them is the remote address.
	TrustedHops int
	// Tokens is what the filter for tokens in front of RBAC demands; the zero value where there is
	// none, or where an Unknown says that it was not read.
	Tokens token.Demand
	// TokenFilter is the filter that Tokens was read of, nil for none.
	TokenFilter *jwtauthnv3.JwtAuthentication
	// Leads are the endpoints that take its requests, where clusters name some. A cluster without endpoints
	// that sends connections on to where they were going has none.
	Leads []Endpoint
	// Rewrites say what gives the workload another path or method than RBAC has judged.
	Rewrites []string
	// listener is the one that has the chain, nil for none.
	listener *listenerv3.Listener
	// Incomplete is set where Filters lacks a part of the authorization: a filter, or
	// something in a filter. An Unknown of kind [dump.Lost] says which. A replay would prove
	// nothing.
	Incomplete bool
}

// Takes reports whether the listener of the inbound may get connections to an address of its machine: the inbound has this
// address or every one, and its socket has connections of this family.
func (i Inbound) Takes(ip netip.Addr) bool {
	ip = ip.Unmap()
	family := i.Socket.Addr().Is4() == ip.Is4() || ip.Is4() && i.IPv4Compat
	return family && (i.Address.Addr().IsUnspecified() || i.Address.Addr() == ip)
}

// SharesListener reports whether two inbounds are chains of one listener. Their names do not tell: a listener without a name has its
// address in place of one, which may be the name of another listener.
func (i Inbound) SharesListener(other Inbound) bool {
	return i.listener == other.listener && i.Listener == other.Listener
}

// Program turns the filters of the inbound back into a program, as [lift.Program] does.
// It knows the port that callers connect to, if the inbound has one.
func (i Inbound) Program() (p policy.Program, lost []string) {
	p, lost = lift.Program(i.Filters, i.Address.Port())
	if i.Address.Port() == 0 && reads(p, attribute.DestinationPort) {
		lost = append(lost, "a filter asks for the port that callers connect to, and the inbound has every port")
	}
	return p, lost
}

// reads reports whether a program asks for an attribute.
func reads(p policy.Program, a *policy.Attribute) bool {
	for c := range p.Conditions() {
		if is, ok := c.(policy.Is); ok && is.Attribute == a {
			return true
		}
	}
	return false
}

// Guard is one RBAC filter in its place.
type Guard struct {
	// Filter is the name of the filter.
	Filter string
	Layer  policy.Layer
	// StatPrefix is the prefix of a network filter; for an HTTP filter it is the prefix of
	// the connection manager. Only HTTP filters have a RulesStatPrefix.
	StatPrefix, RulesStatPrefix, ShadowRulesStatPrefix string
	// Enforces is false where the filter only observes: it has neither rules nor a
	// matcher, or its rules only log.
	Enforces bool
}

// Unguarded reports whether RBAC lets every request of the inbound pass: no filter enforces
// anything, and no filter was lost.
func (i Inbound) Unguarded() bool {
	if i.Incomplete || len(i.Filters.Routes) > 0 {
		return false
	}
	for _, g := range i.Guards {
		if g.Enforces {
			return false
		}
	}
	return true
}

// Transport is what a filter chain demands of a connection, the weakest first.
type Transport uint8

const (
	// Plaintext is no transport socket, or a raw buffer.
	Plaintext Transport = iota
	// TLS does not demand a client certificate.
	TLS
	// MutualTLS demands a client certificate. An Unknown of kind [dump.Exposed] tells where the
	// certificate may prove no identity of the mesh.
	MutualTLS
	// OtherTransport is a transport socket of another kind, named as Unknown.
	OtherTransport
)

var transportNames = [...]string{Plaintext: "plaintext", TLS: "TLS", MutualTLS: "mTLS", OtherTransport: "other"}

// String returns the name for messages.
func (t Transport) String() string { return transportNames[t] }

// UnknownOf returns what was not understood about an inbound: in its chain, in its listener, or in
// the whole dump.
func (s Sidecar) UnknownOf(i Inbound) []dump.Unknown {
	return s.Index()(i)
}

// Index returns [Sidecar.UnknownOf] for many inbounds.
func (s Sidecar) Index() func(Inbound) []dump.Unknown {
	type place struct{ listener, chain string }
	at := map[place][]int{}
	for n, u := range s.Unknown {
		key := place{u.Listener, u.Chain}
		at[key] = append(at[key], n)
	}
	return func(i Inbound) []dump.Unknown {
		var found []int
		places := []place{{}, {i.Listener, ""}, {"", i.Chain}, {i.Listener, i.Chain}}
		for n, key := range places {
			if !slices.Contains(places[:n], key) {
				found = append(found, at[key]...)
			}
		}
		slices.Sort(found)
		var out []dump.Unknown
		for _, n := range found {
			out = append(out, s.Unknown[n])
		}
		return out
	}
}

// Unplaced returns what was not understood, is no [dump.Note], and is about none of the inbounds: a
// listener that could not be read, or that serves nothing yet.
func (s Sidecar) Unplaced() []dump.Unknown {
	of, about := s.Index(), map[dump.Unknown]bool{}
	for _, in := range s.Inbounds {
		for _, u := range of(in) {
			about[u] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(s.Unknown), func(u dump.Unknown) bool { return u.Kind == dump.Note || about[u] })
}

// DoubtsOfEnvoy says why the Envoy of the asked version may judge otherwise than that of the dump: it is
// another release, or the dump says more of the Envoy itself that may change how it judges.
func (s Sidecar) DoubtsOfEnvoy(asked string) (out []string) {
	if number, _, _ := strings.Cut(s.Envoy, "-"); s.Envoy != "" && asked != s.Envoy && asked != number {
		out = append(out, fmt.Sprintf("the dump is of Envoy %s, and Envoy %s was asked: releases decide differently", s.Envoy, asked))
	}
	for _, u := range s.Unknown {
		if u.Kind == dump.BesideRBAC && u.Listener == "" {
			out = append(out, u.String())
		}
	}
	return out
}
