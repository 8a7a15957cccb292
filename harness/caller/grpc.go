package caller

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
)

// grpcSpeech makes unary calls with grpc-go.
type grpcSpeech struct {
	conn   *conn
	client *grpc.ClientConn
}

func newGRPC(c Call, conn *conn) (speech, error) {
	var dialed atomic.Bool
	client, err := grpc.NewClient("passthrough:///inbound",
		grpc.WithAuthority(c.Host()),
		// The connection is already secured; grpc-go has nothing to add.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if dialed.Swap(true) {
				return nil, errors.New("a line has one connection")
			}
			return conn, nil
		}),
	)
	if err != nil {
		return nil, err
	}
	return grpcSpeech{conn, client}, nil
}

func (g grpcSpeech) ask(ctx context.Context, c Call) (Answer, bool) {
	for _, h := range c.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, h.Name, h.Value)
	}
	err := g.client.Invoke(ctx, c.Target(), &emptypb.Empty{}, &emptypb.Empty{})
	if err != nil && context.Cause(ctx) != nil {
		// The code is grpc-go's own then, not the inbound's.
		return Answer{Err: err}, false
	}
	s := status.Convert(err)
	broken := g.conn.failed()
	if broken && s.Code() == codes.Unavailable {
		return g.conn.end(err), false
	}
	return Answer{Outcome: Answered, Status: 200, GRPC: s.Code(), Body: s.Message()}, !broken
}

func (g grpcSpeech) close() { _ = g.client.Close() }
