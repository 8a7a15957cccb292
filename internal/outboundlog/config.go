package outboundlog

import (
	"net/netip"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	grpclogv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/grpc/v3"
	otelv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/open_telemetry/v3"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Name is the name of Envoy's extension.
const Name = "envoy.access_loggers.open_telemetry"

// columns are the fields of an entry, in Envoy's words. The key of each is its place.
var columns = []struct {
	format string
	read   func(e *Entry, text string) error
}{
	{"%DOWNSTREAM_REMOTE_ADDRESS%", address(func(e *Entry) *netip.AddrPort { return &e.Caller })},
	{"%DOWNSTREAM_LOCAL_ADDRESS%", address(func(e *Entry) *netip.AddrPort { return &e.Destination })},
	{"%START_TIME(%s.%6f)%", began},
	{"%ROUTE_NAME%", text(func(e *Entry) *string { return &e.Route })},
	{"%UPSTREAM_CLUSTER%", cluster},
	{"%UPSTREAM_REMOTE_ADDRESS%", endpoint},
	{"%UPSTREAM_PEER_URI_SAN%", list(func(e *Entry) *[]string { return &e.Peer })},
	{"%RESPONSE_CODE%", wholeNumber(func(e *Entry, n uint64) { e.Status = int(n) })},
	{"%GRPC_STATUS_NUMBER%", text(func(e *Entry) *string { return &e.GRPC })},
	{"%RESPONSE_FLAGS%", list(func(e *Entry) *[]string { return &e.Flags })},
	{"%RESPONSE_CODE_DETAILS%", text(func(e *Entry) *string { return &e.Details })},
	{"%UPSTREAM_TRANSPORT_FAILURE_REASON%", text(func(e *Entry) *string { return &e.Failure })},
	{"%UPSTREAM_REQUEST_ATTEMPT_COUNT%", wholeNumber(func(e *Entry, n uint64) { e.Attempts = int(n) })},
	{"%DURATION%", duration},
	{"%BYTES_RECEIVED%", wholeNumber(func(e *Entry, n uint64) { e.Received = n })},
	{"%UPSTREAM_WIRE_BYTES_SENT%", wholeNumber(func(e *Entry, n uint64) { e.Forwarded = n })},
	{"%BYTES_SENT%", wholeNumber(func(e *Entry, n uint64) { e.Sent = n })},
}

// Config makes Envoy send each entry to the service, without a buffer: in Envoy's default
// buffer an entry may wait for a second.
func Config(service *corev3.GrpcService) *otelv3.OpenTelemetryAccessLogConfig {
	out := &otelv3.OpenTelemetryAccessLogConfig{
		//lint:ignore SA1019 Older releases know no other place for these fields.
		CommonConfig: &grpclogv3.CommonGrpcAccessLogConfig{
			LogName:             "outbound",
			GrpcService:         service,
			TransportApiVersion: corev3.ApiVersion_V3,
			BufferSizeBytes:     wrapperspb.UInt32(0),
		},
		DisableBuiltinLabels: true,
		Attributes:           &commonv1.KeyValueList{},
	}
	for i, column := range columns {
		out.Attributes.Values = append(out.Attributes.Values, &commonv1.KeyValue{
			Key:   key(i),
			Value: &commonv1.AnyValue{Value: &commonv1.AnyValue_StringValue{StringValue: column.format}},
		})
	}
	return out
}
