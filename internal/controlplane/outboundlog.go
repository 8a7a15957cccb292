package controlplane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/tap"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/internal/outboundlog"
)

const (
	logsService  = "opentelemetry.proto.collector.logs.v1.LogsService"
	exportMethod = "Export"
)

// outboundLog takes the entries of outbounds. Envoy sends each of them in a call of its own, one call after the other;
// gRPC handles the calls at once, so that a later entry may be there first.
type outboundLog struct {
	// entries gets each entry, and must not block.
	entries func(outboundlog.Entry, error)

	mu sync.Mutex
	// underway has a channel for each call that Envoy has begun. It is closed when the call has ended.
	underway map[chan struct{}]struct{}
}

func newOutboundLog(entries func(outboundlog.Entry, error)) *outboundLog {
	return &outboundLog{entries: entries, underway: map[chan struct{}]struct{}{}}
}

func (l *outboundLog) register(s grpc.ServiceRegistrar) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: logsService,
		Methods: []grpc.MethodDesc{{MethodName: exportMethod, Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			// The request of the service has the only field of this message, under the same number.
			data := &logsv1.LogsData{}
			if err := decode(data); err != nil {
				return nil, err
			}
			outboundlog.Read(data, l.entries)
			return &emptypb.Empty{}, nil
		}}},
	}, nil)
}

// begin notes a call. It is a [tap.ServerInHandle]: gRPC asks it in the order in which the calls of a connection
// come. The context of a call ends behind its handler.
func (l *outboundLog) begin(ctx context.Context, call *tap.Info) (context.Context, error) {
	if call.FullMethodName == "/"+logsService+"/"+exportMethod {
		ended := make(chan struct{})
		l.mu.Lock()
		l.underway[ended] = struct{}{}
		l.mu.Unlock()
		context.AfterFunc(ctx, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.underway, ended)
			close(ended)
		})
	}
	return ctx, nil
}

// settle waits for the end of all calls that have begun.
func (l *outboundLog) settle(ctx context.Context) error {
	l.mu.Lock()
	underway := slices.Collect(maps.Keys(l.underway))
	l.mu.Unlock()
	for _, ended := range underway {
		select {
		case <-ended:
		case <-ctx.Done():
			return fmt.Errorf("controlplane: read the log of outbounds: an entry that Envoy has begun to send did not come: %w", context.Cause(ctx))
		}
	}
	return nil
}
