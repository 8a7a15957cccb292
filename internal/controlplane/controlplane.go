package controlplane

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	authv3 "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/log"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/xds"
)

// connectTimeout bounds how long Envoy tries to reach the control plane and the
// upstreams, which are processes of the same machine.
const connectTimeout = 5 * time.Second

// ControlPlane serves delta ADS (listeners, routes, clusters and secrets) to one Envoy and
// receives its access logs. It is safe for concurrent use.
type ControlPlane struct {
	grpc       *grpc.Server
	creds      *watchedTLS
	authorizer *authorizerServer
	outbounds  *outboundLog
	stop       context.CancelFunc
	served     chan struct{}
	acks       *acks
	listeners  *cache.LinearCache
	secrets    *cache.LinearCache
	clusters   *cache.LinearCache
	routes     *cache.LinearCache
	// canary is what a request shows that asks the canary of routes.
	canary string

	connected     chan struct{}
	connectedOnce sync.Once
	// turn is held by the push under way. One response then never carries the
	// resources of two pushes, and a NACK is about one of them.
	turn   chan struct{}
	pushes uint64
}

// watchedTLS remembers why a TLS handshake failed, because gRPC does not report it.
type watchedTLS struct {
	credentials.TransportCredentials
	failure atomic.Pointer[error]
}

// ServerHandshake implements [credentials.TransportCredentials].
func (w *watchedTLS) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secured, info, err := w.TransportCredentials.ServerHandshake(conn)
	if err != nil {
		w.failure.Store(&err)
	}
	return secured, info, err
}

// HandshakeError returns the error of the last TLS handshake that failed, nil if none did.
func (c *ControlPlane) HandshakeError() error {
	if err := c.creds.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Records get what Envoy tells while it serves requests. None of them may block; one that is
// nil gets nothing.
type Records struct {
	// Entry gets every entry of the access log of an inbound, one at a time for each stream.
	Entry func(xds.AccessLog)
	// Asked gets the address of each caller that the authorizer of the lab is asked about.
	Asked func(caller netip.AddrPort)
	// Outbound gets every entry of the access log of an outbound, or why it cannot be read. A later entry may come
	// first: see [ControlPlane.SettleOutbounds].
	Outbound func(outboundlog.Entry, error)
}

// Serve starts a control plane on the listener, which it closes in the end. The
// TLS configuration must demand Envoy's SVID.
func Serve(lis net.Listener, config *tls.Config, to Records) *ControlPlane {
	if to.Entry == nil {
		to.Entry = func(xds.AccessLog) {}
	}
	if to.Asked == nil {
		to.Asked = func(netip.AddrPort) {}
	}
	if to.Outbound == nil {
		to.Outbound = func(outboundlog.Entry, error) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	creds := &watchedTLS{TransportCredentials: credentials.NewTLS(config)}
	outbounds := newOutboundLog(to.Outbound)
	c := &ControlPlane{
		grpc:       grpc.NewServer(grpc.Creds(creds), grpc.InTapHandle(outbounds.begin)),
		creds:      creds,
		authorizer: &authorizerServer{asked: to.Asked},
		outbounds:  outbounds,
		stop:       stop,
		served:     make(chan struct{}),
		acks:       newACKs(),
		listeners:  cache.NewLinearCache(resource.ListenerType, cache.WithLogger(log.NewDefaultLogger())),
		secrets:    cache.NewLinearCache(resource.SecretType, cache.WithLogger(log.NewDefaultLogger())),
		clusters:   cache.NewLinearCache(resource.ClusterType, cache.WithLogger(log.NewDefaultLogger())),
		routes:     cache.NewLinearCache(resource.RouteType, cache.WithLogger(log.NewDefaultLogger())),
		canary:     rand.Text(),
		connected:  make(chan struct{}),
		turn:       make(chan struct{}, 1),
	}
	mux := &cache.MuxCache{
		Classify:      func(r *cache.Request) string { return r.GetTypeUrl() },
		ClassifyDelta: func(r *cache.DeltaRequest) string { return r.GetTypeUrl() },
		Caches: map[string]cache.Cache{
			resource.ListenerType: c.listeners, resource.SecretType: c.secrets, resource.ClusterType: c.clusters, resource.RouteType: c.routes,
		},
	}
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(c.grpc, server.NewServer(ctx, mux, c.callbacks()))
	accesslogv3.RegisterAccessLogServiceServer(c.grpc, &accessLogServer{entries: to.Entry})
	authv3.RegisterAuthorizationServer(c.grpc, c.authorizer)
	outbounds.register(c.grpc)
	go func() {
		defer close(c.served)
		// Serve returns when Close stops the server, and earlier only where the
		// listener breaks; Envoy then loses its stream, and pushes say so.
		_ = c.grpc.Serve(lis)
	}()
	return c
}

// Connected is closed once Envoy opened its ADS stream: it is up and configured
// from its bootstrap.
func (c *ControlPlane) Connected() <-chan struct{} { return c.connected }

// SettleOutbounds waits until [Records.Outbound] has every entry that Envoy began to send before one that is there.
// An error says that an entry did not come before the end of the context.
func (c *ControlPlane) SettleOutbounds(ctx context.Context) error { return c.outbounds.settle(ctx) }

// Close ends all streams and waits for them.
func (c *ControlPlane) Close() {
	c.stop()
	c.grpc.Stop()
	<-c.served
}

func (c *ControlPlane) callbacks() server.Callbacks {
	return server.CallbackFuncs{
		DeltaStreamOpenFunc: func(context.Context, int64, string) error {
			c.connectedOnce.Do(func() { close(c.connected) })
			return nil
		},
		DeltaStreamClosedFunc: func(stream int64, _ *corev3.Node) { c.acks.closed(stream) },
		StreamDeltaRequestFunc: func(stream int64, req *discoveryv3.DeltaDiscoveryRequest) error {
			c.acks.requested(stream, req)
			return nil
		},
		StreamDeltaResponseFunc: func(stream int64, _ *discoveryv3.DeltaDiscoveryRequest, resp *discoveryv3.DeltaDiscoveryResponse) {
			c.acks.responded(stream, resp)
		},
	}
}
