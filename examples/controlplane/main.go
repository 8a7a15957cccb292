// Command controlplane is a control plane in two hundred lines, for meshproof run --ads. It
// serves each proxy a listener with the authorization filters of its inbound. The inbound
// and the policies are in the metadata of the node. Another control plane would use its own
// store of policies.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
)

func main() {
	address := flag.String("listen", "127.0.0.1:18000", "host:port to serve ADS on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("serving ADS on", listener.Addr())
	if err := serve(ctx, listener); err != nil {
		log.Fatal(err)
	}
}

// serve answers proxies until the context ends.
func serve(ctx context.Context, listener net.Listener) error {
	server := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, &plane{})
	stop := context.AfterFunc(ctx, server.Stop)
	defer stop()
	return server.Serve(listener)
}

// plane answers each proxy from the metadata of its node.
type plane struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
}

const listenerType = "type.googleapis.com/envoy.config.listener.v3.Listener"

// StreamAggregatedResources serves one listener, once. Requests for other resources get no
// answer, and acknowledgements need none.
func (p *plane) StreamAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	served := false
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil // the proxy has closed the stream
		}
		if request.GetTypeUrl() != listenerType || served {
			continue
		}
		served = true
		resource, err := listenerFor(request.GetNode())
		if err != nil {
			return fmt.Errorf("node %s: %w", request.GetNode().GetId(), err)
		}
		if err := stream.Send(&discoveryv3.DiscoveryResponse{VersionInfo: "1", Nonce: "1", TypeUrl: listenerType, Resources: resource}); err != nil {
			return err
		}
	}
}
