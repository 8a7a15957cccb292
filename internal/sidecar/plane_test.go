package sidecar

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/dump"
	"github.com/meshproof/meshproof/internal/messages"
)

const nodeID = "default.backend-1"

// plane is a control plane with one snapshot. It records what it is asked for.
type plane struct {
	target string
	mu     sync.Mutex
	acks   map[string]int
	tokens []string
}

func serve(t *testing.T, resources map[resource.Type][]types.Resource) *plane {
	t.Helper()
	snapshot := must[*cache.Snapshot](t)(cache.NewSnapshot("v1", resources))
	snapshots := cache.NewSnapshotCache(true, cache.IDHash{}, nil)
	if err := snapshots.SetSnapshot(t.Context(), nodeID, snapshot); err != nil {
		t.Fatal(err)
	}
	p := &plane{acks: map[string]int{}}
	ctx, cancel := context.WithCancel(context.Background())
	p.serve(t, server.NewServer(ctx, snapshots, server.CallbackFuncs{
		StreamOpenFunc: func(ctx context.Context, _ int64, _ string) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.tokens = append(p.tokens, metadata.ValueFromIncomingContext(ctx, "authorization")...)
			return nil
		},
		StreamRequestFunc: func(_ int64, req *discoveryv3.DiscoveryRequest) error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if req.ResponseNonce != "" && req.ErrorDetail == nil {
				p.acks[req.TypeUrl]++
			}
			return nil
		},
	}))
	t.Cleanup(cancel)
	return p
}

func (p *plane) serve(t *testing.T, ads discoveryv3.AggregatedDiscoveryServiceServer) {
	t.Helper()
	listener := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	p.target = listener.Addr().String()
	s := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(s, ads)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// It ends when the test stops the server.
		_ = s.Serve(listener)
	}()
	t.Cleanup(func() {
		s.Stop()
		<-done
	})
}

// bearer proves nothing, on any transport.
type bearer string

func (t bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

func fetchFrom(t *testing.T, target string) (Sidecar, error) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errPatience)
	defer cancel()
	return Fetch(ctx, target, dump.FetchOptions{
		Node: &corev3.Node{Id: nodeID, Cluster: "backend"}, Transport: insecure.NewCredentials(), PerRPC: bearer("t0ken"),
	})
}

var errPatience = errors.New("out of patience")

// decodeAs is a resource of the JSON that the other tests use.
func decodeAs[M proto.Message](t *testing.T, text string, into M) M {
	t.Helper()
	tree := must[any](t)(messages.Parse([]byte(text)))
	delete(tree.(messages.Object), "@type")
	if _, err := messages.Decode(tree, into); err != nil {
		t.Fatal(err)
	}
	return into
}

// script answers the first request of each type with its resources.
type script struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	answers map[string]*discoveryv3.DiscoveryResponse
	// ends, if set, ends the stream instead of answering.
	ends    bool
	refused chan string
}

func (s *script) StreamAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	for {
		req, err := stream.Recv()
		if err != nil || s.ends {
			return nil
		}
		if req.ErrorDetail != nil {
			s.refused <- req.ErrorDetail.Message
		}
		if answer := s.answers[req.TypeUrl]; answer != nil && req.ResponseNonce == "" {
			if err := stream.Send(answer); err != nil {
				return err
			}
		}
	}
}

func answer(t *testing.T, typeURL string, resources ...*anypb.Any) map[string]*discoveryv3.DiscoveryResponse {
	t.Helper()
	return map[string]*discoveryv3.DiscoveryResponse{resource.ListenerType: {TypeUrl: typeURL, VersionInfo: "v1", Nonce: "1", Resources: resources}}
}
