package controlplane

import (
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	grpclogv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/grpc/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshproof/meshproof/internal/messages"
)

// requestLog streams an entry for every HTTP request, judged or not.
func (i Inbound) requestLog() *accesslogv3.AccessLog {
	config := &grpclogv3.HttpGrpcAccessLogConfig{CommonConfig: grpcLog("request"), AdditionalRequestHeadersToLog: i.Headers}
	// Only some inbounds have the object. Envoy sends the entries of all inbounds on one stream, and so in order, where
	// this configuration is the same for all.
	config.CommonConfig.FilterStateObjectsToLog = []string{callerState}
	return accessLog("envoy.access_loggers.http_grpc", config)
}

// connectionLog streams an entry for every connection, also after a failed handshake.
func connectionLog() *accesslogv3.AccessLog {
	return accessLog("envoy.access_loggers.tcp_grpc", &grpclogv3.TcpGrpcAccessLogConfig{CommonConfig: grpcLog("connection")})
}

func accessLog(name string, config proto.Message) *accesslogv3.AccessLog {
	return &accesslogv3.AccessLog{Name: name, ConfigType: &accesslogv3.AccessLog_TypedConfig{TypedConfig: messages.MustPack(config)}}
}

// grpcLog has no buffer: in Envoy's default buffer an entry may wait for a second.
func grpcLog(name string) *grpclogv3.CommonGrpcAccessLogConfig {
	return &grpclogv3.CommonGrpcAccessLogConfig{
		LogName:             name,
		GrpcService:         controlPlaneService(),
		TransportApiVersion: corev3.ApiVersion_V3,
		BufferSizeBytes:     wrapperspb.UInt32(0),
	}
}

func controlPlaneService() *corev3.GrpcService {
	return &corev3.GrpcService{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
		EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: controlPlaneCluster},
	}}
}
