package sidecar

import (
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/trace/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/open_telemetry/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshproof/meshproof/internal/messages"
)

// calls are the requests that a filter chain sends by itself: to log, to trace, to ask
// another service. They pass no RBAC, also where a caller who is refused sets them off.
type calls struct {
	// clusters has each text of the chain. Where one of them is the name of a cluster, the
	// chain may call the cluster.
	clusters map[string]bool
	// asked are the clusters to which a logger, a tracer or a filter sends requests, by the fields for them.
	asked map[string]bool
	// unread says what may call more than that.
	unread []string
}

// quietExtensions are the extensions around the filters that send nothing but logs and traces:
// callers choose neither the method nor the path of those.
var quietExtensions = map[string]bool{
	"envoy.extensions.access_loggers.file.v3.FileAccessLog":                                          true,
	"envoy.extensions.access_loggers.stream.v3.StdoutAccessLog":                                      true,
	"envoy.extensions.access_loggers.stream.v3.StderrAccessLog":                                      true,
	"envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig":                                true,
	"envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig":                                 true,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig":                 true,
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig":                              true,
	"envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter":                                true,
	"envoy.config.trace.v3.ZipkinConfig":                                                             true,
	"envoy.config.trace.v3.DatadogConfig":                                                            true,
	"envoy.config.trace.v3.OpenTelemetryConfig":                                                      true,
	"envoy.config.trace.v3.SkyWalkingConfig":                                                         true,
	"envoy.extensions.compression.brotli.compressor.v3.Brotli":                                       true,
	"envoy.extensions.compression.brotli.decompressor.v3.Brotli":                                     true,
	"envoy.extensions.compression.gzip.compressor.v3.Gzip":                                           true,
	"envoy.extensions.compression.gzip.decompressor.v3.Gzip":                                         true,
	"envoy.extensions.compression.zstd.compressor.v3.Zstd":                                           true,
	"envoy.extensions.compression.zstd.decompressor.v3.Zstd":                                         true,
	"envoy.extensions.tracers.opentelemetry.resource_detectors.v3.EnvironmentResourceDetectorConfig": true,
	"envoy.extensions.tracers.opentelemetry.samplers.v3.AlwaysOnSamplerConfig":                       true,
	"envoy.extensions.formatter.cel.v3.Cel":                                                          true,
	"envoy.extensions.formatter.metadata.v3.Metadata":                                                true,
	"envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery":                                true,
	"envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig":           true,
	"envoy.extensions.http.original_ip_detection.xff.v3.XffConfig":                                   true,
	uuidRequestID: true,
	"envoy.extensions.internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig": true,
	"envoy.extensions.internal_redirect.previous_routes.v3.PreviousRoutesConfig":        true,
	"envoy.extensions.internal_redirect.safe_cross_scheme.v3.SafeCrossSchemeConfig":     true,
	"envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig":                true,
	"envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig":            true,
	"envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor":                        true,
	"envoy.extensions.retry.host.omit_canary_hosts.v3.OmitCanaryHostsPredicate":         true,
	"envoy.extensions.retry.host.omit_host_metadata.v3.OmitHostMetadataConfig":          true,
	"envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate":              true,
	"envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig":   true,
}

// add adds what a part of a chain may call. Filters, and what routes say of them, are read
// elsewhere.
func (c *calls) add(m proto.Message) {
	extension := func(typeURL string, at *messages.Path) {
		place := at.String()
		_, ok := m.(discoverable)
		if _, upgrade := m.(*hcmv3.HttpConnectionManager_UpgradeConfig); upgrade || ok && (place == "typed_config" || place == "config_discovery.default_config") {
			return
		}
		if name := messages.Name(typeURL); !quietExtensions[name] && !strings.Contains(place, "typed_per_filter_config[") && !strings.Contains(place, "typed_filter_metadata[") {
			c.refuse(fmt.Sprintf("the extension %s is not known to send no requests", name))
		}
	}
	messages.Visitor{
		Closed: func(typeURL, _ string, at *messages.Path) { extension(typeURL, at) },
		Opened: func(typeURL string, _ []messages.Fault, at *messages.Path) { extension(typeURL, at) },
		Message: func(m protoreflect.Message, _ *messages.Path) {
			if of, ok := m.Interface().(*corev3.GrpcService_GoogleGrpc); ok {
				c.refuse(fmt.Sprintf("it opens connections of its own to %q", of.TargetUri))
			}
			c.addTexts(m)
		},
	}.Visit(m.ProtoReflect())
}

// clusterFields are the fields with the cluster that gets requests of Envoy's own, for the messages that known
// extensions are made of.
var clusterFields = map[protoreflect.FullName]protoreflect.Name{
	"envoy.config.core.v3.GrpcService.EnvoyGrpc":                        "cluster_name",
	"envoy.config.core.v3.HttpUri":                                      "cluster",
	"envoy.config.trace.v3.DatadogConfig":                               "collector_cluster",
	"envoy.config.trace.v3.ZipkinConfig":                                "collector_cluster",
	"envoy.extensions.access_loggers.fluentd.v3.FluentdAccessLogConfig": "cluster",
}

// addSources adds the servers that a part of a chain takes its configuration from. Its extensions are read elsewhere.
func (c *calls) addSources(m proto.Message) {
	eachMessage(m, func(m proto.Message) {
		if of, ok := m.(*corev3.GrpcService_GoogleGrpc); ok {
			c.refuse(fmt.Sprintf("it opens connections of its own to %q", of.TargetUri))
		}
		c.addTexts(m.ProtoReflect())
	})
}

func (c *calls) addTexts(m protoreflect.Message) {
	if source, ok := m.Interface().(*corev3.ApiConfigSource); ok {
		for _, name := range source.ClusterNames {
			c.asked[name] = true
		}
	}
	if name, ok := clusterFields[m.Descriptor().FullName()]; ok {
		c.asked[m.Get(m.Descriptor().Fields().ByName(name)).String()] = true
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
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
		if authorizesAlone(f) {
			c.addSources(f.GetConfigDiscovery())
			continue
		}
		if filter, _, _ := messages.Unpack(f.GetTypedConfig()); !mayBeSkipped(filter) {
			c.add(f)
		}
	}
}
