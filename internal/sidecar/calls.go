package sidecar

import (
	"fmt"
	"slices"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tracev3 "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshproof/meshproof/internal/messages"
)

// calls are the requests that a filter chain sends by itself: to log, to trace, to ask
// another service. They pass no RBAC, also where a caller who is refused sets them off.
type calls struct {
	// clusters has each text of the chain. Where one of them is the name of a cluster, the
	// chain may call the cluster.
	clusters map[string]bool
	// unread says what may call more than that.
	unread []string
}

// loggers are the extensions that log or trace, and that send nothing else anywhere: callers
// choose neither the method nor the path of what they send.
var loggers = map[string]bool{
	"envoy.extensions.access_loggers.file.v3.FileAccessLog":                          true,
	"envoy.extensions.access_loggers.stream.v3.StdoutAccessLog":                      true,
	"envoy.extensions.access_loggers.stream.v3.StderrAccessLog":                      true,
	"envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig":                true,
	"envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig":                 true,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig": true,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig":              true,
	"envoy.config.trace.v3.ZipkinConfig":                                             true,
	"envoy.config.trace.v3.DatadogConfig":                                            true,
	"envoy.config.trace.v3.OpenTelemetryConfig":                                      true,
	"envoy.config.trace.v3.SkyWalkingConfig":                                         true,
}

// add adds what a part of a chain may call.
func (c *calls) add(m proto.Message) {
	eachMessage(m, func(m proto.Message) {
		switch m := m.(type) {
		case *accesslogv3.AccessLog:
			c.addLogger(m.GetTypedConfig())
		case *tracev3.Tracing_Http:
			c.addLogger(m.GetTypedConfig())
		case *corev3.GrpcService_GoogleGrpc:
			c.refuse(fmt.Sprintf("it opens connections of its own to %q", m.TargetUri))
		}
		m.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			switch {
			case field.Kind() != protoreflect.StringKind || field.IsMap():
			case field.IsList():
				for i := range value.List().Len() {
					c.clusters[value.List().Get(i).String()] = true
				}
			default:
				c.clusters[value.String()] = true
			}
			return true
		})
	})
}

func (c *calls) addLogger(packed *anypb.Any) {
	if name := messages.Name(messages.TypeURL(packed)); !loggers[name] {
		c.refuse(fmt.Sprintf("%s is not known to log or to trace only", name))
	}
}

func (c *calls) refuse(reason string) {
	if !slices.Contains(c.unread, reason) {
		c.unread = append(c.unread, reason)
	}
}

// addManager adds what a connection manager may call, without its RBAC filters.
func (c *calls) addManager(m *hcmv3.HttpConnectionManager) {
	m.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap() || field.Name() == "http_filters":
		case field.IsList():
			for i := range value.List().Len() {
				c.add(value.List().Get(i).Message().Interface())
			}
		default:
			c.add(value.Message().Interface())
		}
		return true
	})
	for _, f := range m.HttpFilters {
		if !messages.Authorizes(messages.Name(messages.TypeURL(f.GetTypedConfig()))) {
			c.add(f)
		}
	}
}
