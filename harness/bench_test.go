package harness_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	proxyprotocolv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

var (
	benchDomain = spiffeid.RequireTrustDomainFromString("bench.mesh")
	benchClient = spiffeid.RequireFromPath(benchDomain, "/client")
)

// benchSpec returns a mesh of n http inbounds that let the client pass.
func benchSpec(b *testing.B, n int) harness.MeshSpec {
	b.Helper()
	spec := harness.MeshSpec{TrustDomains: []spiffeid.TrustDomain{benchDomain}}
	for i := range n {
		spec.Inbounds = append(spec.Inbounds, harness.Inbound{
			Name: fmt.Sprint("inbound", i), Identity: spiffeid.RequireFromPath(benchDomain, "/server"), Protocol: policy.HTTP,
			Address: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(8080+i)),
			Filters: benchFilters(b, policy.Allow, "policy"),
		})
	}
	return spec
}

func benchFilters(b *testing.B, effect policy.Effect, origin string) xds.Filters {
	b.Helper()
	filters, err := xds.Compile(policy.Program{Gates: []policy.Gate{{
		Layer: policy.L7,
		Rules: []policy.Rule{{
			Verdict: policy.Verdict{Effect: effect, Origin: origin},
			When:    attribute.Identity.Exact(benchClient.String()),
		}},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	return filters
}

func benchCredential(b *testing.B, m *harness.Mesh) *certs.Credential {
	b.Helper()
	ca, err := m.Authority(benchDomain)
	if err != nil {
		b.Fatal(err)
	}
	client, err := ca.Mint(benchClient)
	if err != nil {
		b.Fatal(err)
	}
	return client
}

// decide sends one request and returns how it was decided.
func decide(b *testing.B, m *harness.Mesh, client *certs.Credential) policy.Effect {
	b.Helper()
	batch, err := m.Send(b.Context(), harness.Request{To: "inbound0", Credential: client})
	if err != nil {
		b.Fatal(err)
	}
	found, err := batch.Evidence[0].Find()
	if err != nil {
		b.Fatal(err)
	}
	if found.Form == evidence.Served {
		return policy.Allow
	}
	return policy.Deny
}

// BenchmarkStart measures the time from nothing to the first decision with its evidence:
// Envoy, control plane, mesh and request.
func BenchmarkStart(b *testing.B) {
	for _, runtime := range []harness.Runtime{harness.Process, harness.Container} {
		b.Run(runtime.String(), func(b *testing.B) {
			warm, err := harness.Start(b.Context(), harness.WithRuntime(runtime))
			if err != nil {
				b.Skip(err)
			}
			if err := warm.Close(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				h, err := harness.Start(b.Context(), harness.WithRuntime(runtime))
				if err != nil {
					b.Fatal(err)
				}
				m, err := h.NewMesh(b.Context(), benchSpec(b, 1))
				if err != nil {
					b.Fatal(err)
				}
				if decide(b, m, benchCredential(b, m)) != policy.Allow {
					b.Fatal("the client was denied")
				}
				b.StopTimer()
				if err := h.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

// BenchmarkSetFilters changes one policy of a mesh of 5 inbounds, and waits until the change
// is live. The mesh is alone on its Envoy, or among 500 other inbounds.
func BenchmarkSetFilters(b *testing.B) {
	for _, others := range []int{0, 500} {
		b.Run(fmt.Sprint(others, " other inbounds"), func(b *testing.B) {
			h := harness.New(b, harness.WithRuntime(harness.Process))
			m := h.Mesh(b, benchSpec(b, 5))
			for range others / 50 {
				h.Mesh(b, benchSpec(b, 50))
			}
			client := benchCredential(b, m)
			longest, n := time.Duration(0), 0
			for b.Loop() {
				effect := []policy.Effect{policy.Deny, policy.Allow}[n%2]
				filters := benchFilters(b, effect, fmt.Sprint("policy-", n))
				began := time.Now()
				if err := m.SetFilters(b.Context(), map[string]xds.Filters{"inbound0": filters}); err != nil {
					b.Fatal(err)
				}
				longest = max(longest, time.Since(began))
				b.StopTimer()
				if got := decide(b, m, client); got != effect {
					b.Fatalf("the change to %s is not live: got %s", effect, got)
				}
				b.StartTimer()
				n++
			}
			b.ReportMetric(float64(longest.Microseconds())/1000, "longest-ms")
		})
	}
}

// bareEnvoy starts an Envoy with one inbound of the same kind, with mTLS and the same
// filters, but without access logs and a control plane. It returns the address for callers.
func bareEnvoy(b *testing.B, in harness.Inbound, ca *certs.Authority) string {
	b.Helper()
	plan := must(envoy.Prepare(b.Context(), envoy.Options{Runtime: envoy.Process, Ports: 1}))(b)
	place := plan.Surroundings()
	up := must(upstream.Start(b.Context(), place.BindAddress))(b)
	b.Cleanup(func() { _ = up.Close() })
	host := func(port int) string { return net.JoinHostPort(place.HostName, strconv.Itoa(port)) }
	server := must(ca.Mint(in.Identity))(b)
	free := must(net.Listen("tcp", "127.0.0.1:0"))(b)
	at := free.Addr().(*net.TCPAddr)
	if err := free.Close(); err != nil {
		b.Fatal(err)
	}
	raw := must(controlplane.Bootstrap{
		Admin: place.Admin, ControlPlane: host(up.TCPPort()), UpstreamHTTP: host(up.HTTPPort()), UpstreamTCP: host(up.TCPPort()), UpstreamSecret: up.Secret(),
		Proxy: server, Authority: in.Identity.String(), Bundles: x509bundle.NewSet(ca.Bundle()),
	}.JSON())(b)
	var bootstrap bootstrapv3.Bootstrap
	if err := protojson.Unmarshal(raw, &bootstrap); err != nil {
		b.Fatal(err)
	}
	clusters := bootstrap.StaticResources.Clusters[1:]
	bootstrap.DynamicResources, bootstrap.StaticResources.Clusters = nil, clusters
	serve := []*listenerv3.Filter{}
	if in.Protocol == policy.TCP {
		for _, f := range in.Filters.Network {
			f = proto.CloneOf(f)
			f.StatPrefix = "bare"
			serve = append(serve, networkFilter(b, "envoy.filters.network.rbac", f))
		}
		serve = append(serve, networkFilter(b, "envoy.filters.network.tcp_proxy", &tcpproxyv3.TcpProxy{
			StatPrefix: "bare", ClusterSpecifier: &tcpproxyv3.TcpProxy_Cluster{Cluster: clusters[1].Name},
		}))
	} else {
		serve = append(serve, networkFilter(b, "envoy.filters.network.http_connection_manager", bareManager(b, in, clusters[0].Name, up.Secret())))
	}
	bootstrap.StaticResources.Listeners = []*listenerv3.Listener{{
		Name: "bare",
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "127.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: uint32(at.Port)},
		}}},
		ListenerFilters: []*listenerv3.ListenerFilter{{
			Name:       "envoy.filters.listener.proxy_protocol",
			ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: packed(b, &proxyprotocolv3.ProxyProtocol{})},
		}},
		FilterChains: []*listenerv3.FilterChain{{Filters: serve, TransportSocket: &corev3.TransportSocket{
			Name:       "envoy.transport_sockets.tls",
			ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: packed(b, bareTLS(in.Protocol, server, ca))},
		}}},
	}}
	running := must(plan.Start(b.Context(), must(protojson.Marshal(&bootstrap))(b)))(b)
	b.Cleanup(func() { _ = running.Close() })
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Second)
	defer cancel()
	// Static listeners have no other event.
	for {
		state, err := running.AdminGet(ctx, "/ready")
		switch {
		case err == nil && strings.HasPrefix(string(state), "LIVE"):
			return at.String()
		case ctx.Err() != nil:
			b.Fatal(err)
		}
	}
}

func bareManager(b *testing.B, in harness.Inbound, cluster, secret string) *hcmv3.HttpConnectionManager {
	hcm := &hcmv3.HttpConnectionManager{
		StatPrefix: "bare",
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
			VirtualHosts: []*routev3.VirtualHost{{Name: "bare", Domains: []string{"*"}, Routes: []*routev3.Route{{
				Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}},
			}}}},
			RequestHeadersToAdd: []*corev3.HeaderValueOption{{Header: &corev3.HeaderValue{Key: controlplane.CallerHeader, Value: "bare " + secret}}},
		}},
		GenerateRequestId: wrapperspb.Bool(false),
	}
	add := func(name string, config proto.Message) {
		hcm.HttpFilters = append(hcm.HttpFilters, &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(b, config)}})
	}
	for _, f := range in.Filters.HTTP {
		add("envoy.filters.http.rbac", f)
	}
	add("envoy.filters.http.router", &routerv3.Router{})
	return hcm
}

func bareTLS(p policy.Protocol, server *certs.Credential, ca *certs.Authority) *tlsv3.DownstreamTlsContext {
	inline := func(pem []byte) *corev3.DataSource {
		return &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: pem}}
	}
	var roots []byte
	for _, root := range ca.Bundle().X509Authorities() {
		roots = append(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw})...)
	}
	common := &tlsv3.CommonTlsContext{
		TlsCertificates:       []*tlsv3.TlsCertificate{{CertificateChain: inline(server.ChainPEM()), PrivateKey: inline(server.KeyPEM())}},
		ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: &tlsv3.CertificateValidationContext{TrustedCa: inline(roots)}},
	}
	switch p {
	case policy.HTTP:
		common.AlpnProtocols = []string{"http/1.1"}
	case policy.HTTP2, policy.GRPC:
		common.AlpnProtocols = []string{"h2"}
	}
	return &tlsv3.DownstreamTlsContext{RequireClientCertificate: wrapperspb.Bool(true), CommonTlsContext: common}
}

func networkFilter(b *testing.B, name string, config proto.Message) *listenerv3.Filter {
	return &listenerv3.Filter{Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(b, config)}}
}

func packed(b *testing.B, m proto.Message) *anypb.Any { return must(anypb.New(m))(b) }

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// bareLoop makes n calls over a number of connections at the same time, with each caller in
// turn. It gathers no evidence.
func bareLoop(b *testing.B, calls []caller.Call, n, connections int) {
	var callers sync.WaitGroup
	for i := range connections {
		call := calls[i%len(calls)]
		call.Source = netip.AddrPortFrom(call.Source.Addr(), uint16(1024+i))
		callers.Go(func() {
			var line *connection.Connection
			for range (n + connections - 1) / connections {
				if line != nil && !line.Reusable() {
					line.Close()
					line = nil
				}
				if line == nil {
					line = connection.Open(context.Background(), call, 0)
				}
				if answer := line.Send(call); answer.Outcome == caller.Fault {
					b.Error(answer)
				}
			}
			line.Close()
		})
	}
	callers.Wait()
}
