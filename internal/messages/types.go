// Package messages reads protobuf messages that others wrote: in binary form, as JSON,
// packed in an Any or in a TypedStruct.
//
// It guarantees that it tells what a message loses on the way: a type that is not linked
// into the program, a field or an enumerator that its definition does not have here, a
// nesting that is too deep. Bad input is an error or a [Fault], never a panic. It does
// not know what a message means.
package messages

import (
	"strings"

	_ "github.com/cncf/xds/go/udpa/type/v1"
	_ "github.com/cncf/xds/go/xds/type/matcher/v3"
	_ "github.com/cncf/xds/go/xds/type/v3"
	_ "github.com/envoyproxy/go-control-plane/contrib/envoy/extensions/filters/http/alpn/v3"
	_ "github.com/envoyproxy/go-control-plane/contrib/envoy/extensions/filters/http/istio_stats/v3"
	_ "github.com/envoyproxy/go-control-plane/contrib/envoy/extensions/filters/http/peer_metadata/v3"
	_ "github.com/envoyproxy/go-control-plane/contrib/envoy/extensions/filters/network/kafka_broker/v3"
	_ "github.com/envoyproxy/go-control-plane/contrib/envoy/extensions/filters/network/metadata_exchange/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/fluentd/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/grpc/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/alternate_protocols_cache/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_stats/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/http_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_dst/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/original_src/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/direct_response/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/environment_variable/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/consistent_hashing/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/metadata/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/runtime_fraction/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/path/match/uri_template/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/audit_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/matchers/upstream_ip_port/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/principals/mtls_authenticated/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/raw_buffer/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// The filters that authorize.
const (
	NetworkRBAC = "envoy.extensions.filters.network.rbac.v3.RBAC"
	HTTPRBAC    = "envoy.extensions.filters.http.rbac.v3.RBAC"
	RouteRBAC   = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute"
)

// Name returns the name of the message behind a type URL.
func Name(typeURL string) string { return typeURL[strings.LastIndexByte(typeURL, '/')+1:] }

// Authorizes reports whether the message with the name is an RBAC filter.
func Authorizes(message string) bool {
	return message == NetworkRBAC || message == HTTPRBAC || message == RouteRBAC
}

func linked(typeURL string) (protoreflect.MessageType, bool) {
	found, err := protoregistry.GlobalTypes.FindMessageByURL(typeURL)
	return found, err == nil
}

// tolerant resolves every type. It resolves a type that is not linked into this program
// to a message without fields, so that an Any of it keeps its type URL and loses its
// content.
type tolerant struct{}

var contentless = (&corev3.AggregatedConfigSource{}).ProtoReflect().Type()

func (tolerant) FindMessageByURL(typeURL string) (protoreflect.MessageType, error) {
	if found, ok := linked(typeURL); ok {
		return found, nil
	}
	return contentless, nil
}

func (t tolerant) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	return t.FindMessageByURL(string(name))
}

func (tolerant) FindExtensionByName(name protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return protoregistry.GlobalTypes.FindExtensionByName(name)
}

func (tolerant) FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return protoregistry.GlobalTypes.FindExtensionByNumber(message, field)
}
