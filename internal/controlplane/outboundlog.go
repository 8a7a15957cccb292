package controlplane

import (
	"context"

	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/internal/outboundlog"
)

// registerOutboundLog makes a server take the entries of outbounds. The function gets each of
// them, and must not block.
func registerOutboundLog(s grpc.ServiceRegistrar, entries func(outboundlog.Entry, error)) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: "opentelemetry.proto.collector.logs.v1.LogsService",
		Methods: []grpc.MethodDesc{{MethodName: "Export", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			// The request of the service has the only field of this message, under the same number.
			data := &logsv1.LogsData{}
			if err := decode(data); err != nil {
				return nil, err
			}
			outboundlog.Read(data, entries)
			return &emptypb.Empty{}, nil
		}}},
	}, nil)
}
