package grpcplane

import (
	"context"
	"fmt"
	"net"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
)

// controlPlane serves one listener over ADS.
type controlPlane struct {
	grpc   *grpc.Server
	stop   context.CancelFunc
	served chan struct{}
}

// serveListener serves it on a socket in a directory that nobody else can enter, which
// stands in the place of TLS.
func serveListener(socket string, l *listenerv3.Listener) (*controlPlane, error) {
	lis, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("grpcplane: listen for the control plane: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	c := &controlPlane{grpc: grpc.NewServer(), stop: stop, served: make(chan struct{})}
	listeners := cache.NewLinearCache(resource.ListenerType, cache.WithInitialResources(map[string]types.Resource{l.Name: l}))
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(c.grpc, server.NewServer(ctx, listeners, nil))
	go func() {
		defer close(c.served)
		// It returns when close stops the server, and earlier only where the socket breaks;
		// the gRPC server then says that it has no listener.
		_ = c.grpc.Serve(lis)
	}()
	return c, nil
}

func (c *controlPlane) close() {
	c.stop()
	c.grpc.Stop()
	<-c.served
}
