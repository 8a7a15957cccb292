package ads_test

import (
	"net"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plane is a control plane that sends the same listeners to each node, or sends nothing.
type plane struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	listeners []*listenerv3.Listener
	// asked gets the nodes of the requests. Nodes that do not fit are dropped.
	asked chan *corev3.Node
}

// serve runs the control plane until the test ends, and returns its address.
func (p *plane) serve(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, p)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// StreamAggregatedResources answers the first request. Later requests are acknowledgements.
func (p *plane) StreamAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	for {
		request, err := stream.Recv()
		if err != nil {
			return nil // the client has closed the stream
		}
		if request.ResponseNonce != "" {
			continue
		}
		select {
		case p.asked <- request.Node:
		default:
		}
		if p.listeners == nil {
			continue
		}
		answer := &discoveryv3.DiscoveryResponse{VersionInfo: "1", Nonce: "1", TypeUrl: request.TypeUrl}
		for _, l := range p.listeners {
			packed, err := anypb.New(l)
			if err != nil {
				return err
			}
			answer.Resources = append(answer.Resources, packed)
		}
		if err := stream.Send(answer); err != nil {
			return err
		}
	}
}

// unlinked returns a message without a known definition.
func unlinked(name string) *anypb.Any { return &anypb.Any{TypeUrl: "type.googleapis.com/" + name} }

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	out, err := anypb.New(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// manager returns an HTTP connection manager with one RBAC filter that allows everything.
func manager(t *testing.T) *hcmv3.HttpConnectionManager {
	t.Helper()
	rbac := &httprbacv3.RBAC{Rules: &rbacconfigv3.RBAC{Policies: map[string]*rbacconfigv3.Policy{"everybody": {
		Permissions: []*rbacconfigv3.Permission{{Rule: &rbacconfigv3.Permission_Any{Any: true}}},
		Principals:  []*rbacconfigv3.Principal{{Identifier: &rbacconfigv3.Principal_Any{Any: true}}},
	}}}}
	return &hcmv3.HttpConnectionManager{
		StatPrefix: "app", NormalizePath: wrapperspb.Bool(true), MergeSlashes: true,
		PathWithEscapedSlashesAction: hcmv3.HttpConnectionManager_REJECT_REQUEST,
		HttpFilters:                  []*hcmv3.HttpFilter{httpFilter("rbac", packed(t, rbac)), httpFilter("router", packed(t, &routerv3.Router{}))},
	}
}

func httpFilter(name string, config *anypb.Any) *hcmv3.HttpFilter {
	return &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: config}}
}

// listener returns an inbound listener with one chain.
func listener(port uint32, manager *anypb.Any) *listenerv3.Listener {
	return &listenerv3.Listener{
		Name: "inbound", TrafficDirection: corev3.TrafficDirection_INBOUND,
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "10.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
		}}},
		FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{Name: "manager", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: manager}}}}},
	}
}
