package connection

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/harness/caller"
)

// grpcProtocol makes unary calls with grpc-go.
type grpcProtocol struct {
	wire   *wire
	client *grpc.ClientConn
}

func newGRPC(c caller.Call, w *wire) (protocol, error) {
	var dialed atomic.Bool
	client, err := grpc.NewClient("passthrough:///inbound",
		grpc.WithAuthority(c.WithDefaults().Authority),
		// The wire already runs TLS, if the call wants any.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if dialed.Swap(true) {
				return nil, errors.New("the call has one connection only")
			}
			return w, nil
		}),
	)
	if err != nil {
		return nil, err
	}
	return grpcProtocol{w, client}, nil
}

func (g grpcProtocol) send(ctx context.Context, c caller.Call) (caller.Answer, bool) {
	for _, h := range c.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, h.Name, h.Value)
	}
	err := g.client.Invoke(ctx, c.Path, &emptypb.Empty{}, &emptypb.Empty{})
	if err != nil && context.Cause(ctx) != nil {
		// The code then comes from grpc-go, not from the inbound.
		return caller.Answer{Err: err}, false
	}
	s := status.Convert(err)
	broken := g.wire.failed()
	if broken && s.Code() == codes.Unavailable {
		return g.wire.unanswered(err), false
	}
	return caller.Answer{Outcome: caller.Answered, Status: 200, GRPC: s.Code(), Body: s.Message()}, !broken
}

func (g grpcProtocol) close() { _ = g.client.Close() }
