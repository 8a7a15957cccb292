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

// sendGRPC makes a unary call with grpc-go over the connection at hand.
func sendGRPC(ctx context.Context, c Call, conn *conn) Answer {
	var dialed atomic.Bool
	client, err := grpc.NewClient("passthrough:///inbound",
		grpc.WithAuthority(c.Host()),
		// The connection is already secured; grpc-go has nothing to add.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDisableServiceConfig(),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			if dialed.Swap(true) {
				return nil, errors.New("a call has one connection")
			}
			return conn, nil
		}),
	)
	if err != nil {
		return Answer{Err: err}
	}
	defer client.Close()
	for _, h := range c.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, h.Name, h.Value)
	}
	err = client.Invoke(ctx, c.Target(), &emptypb.Empty{}, &emptypb.Empty{})
	if err != nil && context.Cause(ctx) != nil {
		// The code is grpc-go's own then, not the inbound's.
		return Answer{Err: err}
	}
	conn.mu.Lock()
	broken := conn.fail != nil
	conn.mu.Unlock()
	s := status.Convert(err)
	if broken && s.Code() == codes.Unavailable {
		return conn.end(err)
	}
	return Answer{Outcome: Answered, Status: 200, GRPC: s.Code(), Body: s.Message()}
}
