package routing

import (
	"cmp"
	"fmt"
	"time"
)

// Bound is one of the bounds that a mesh sets on the time of a request or of a connection.
type Bound uint8

// The bounds, with the fields of Envoy that they become.
const (
	// Connection bounds how long a connection to a backend may take, the TLS handshake
	// included: envoy.config.cluster.v3.Cluster.connect_timeout.
	Connection Bound = iota
	// Request bounds the time from the end of the request to the end of the response:
	// envoy.config.route.v3.RouteAction.timeout.
	Request
	// StreamIdle bounds the time without a byte of the stream in either direction:
	// envoy.config.route.v3.RouteAction.idle_timeout.
	StreamIdle
	// Idle bounds the time of a connection to a backend without a request; on tcp without a
	// byte. It is idle_timeout of envoy.config.core.v3.HttpProtocolOptions, or of
	// envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.
	Idle
	// MaxStream bounds the time of a stream, whether bytes flow or not: max_stream_duration
	// of envoy.config.core.v3.HttpProtocolOptions.
	MaxStream
	// MaxConnection bounds the time of a connection to a backend: max_connection_duration of
	// envoy.config.core.v3.HttpProtocolOptions. The connection closes after its last request.
	MaxConnection
	// RequestHeaders bounds the time until the headers of a request are complete:
	// request_headers_timeout of
	// envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.
	RequestHeaders
	// Bounds is the number of bounds.
	Bounds
)

// Level is the part of a sidecar's configuration that has a bound.
type Level uint8

// The levels.
const (
	// OfListener is a bound for all requests to a destination.
	OfListener Level = iota
	// OfRoute is a bound for the requests of a route.
	OfRoute
	// OfCluster is a bound for all requests to a backend.
	OfCluster
)

var bounds = [Bounds]struct {
	name  string
	level Level
	// http is true where a tcp outbound has no such bound.
	http bool
}{
	Connection:     {"connectionTimeout", OfCluster, false},
	Request:        {"requestTimeout", OfRoute, true},
	StreamIdle:     {"streamIdleTimeout", OfRoute, true},
	Idle:           {"idleTimeout", OfCluster, false},
	MaxStream:      {"maxStreamDuration", OfCluster, true},
	MaxConnection:  {"maxConnectionDuration", OfCluster, true},
	RequestHeaders: {"requestHeadersTimeout", OfListener, true},
}

// String returns the name of the bound, such as "requestTimeout".
func (b Bound) String() string {
	if b < Bounds {
		return bounds[b].name
	}
	return fmt.Sprintf("bound %d", uint8(b))
}

// MarshalText returns the name of the bound.
func (b Bound) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// Level returns the part of the configuration that has the bound.
func (b Bound) Level() Level { return bounds[b].level }

// NeedsHTTP reports whether a tcp outbound has no such bound.
func (b Bound) NeedsHTTP() bool { return bounds[b].http }

// Limit is the value of a bound, and where it comes from.
type Limit struct {
	// Time is 0 for no limit.
	Time time.Duration `json:"time"`
	// Origin is the identifier of the policy that says it, or names the header of the caller that an Envoy
	// follows; empty for the default of the mesh.
	Origin string `json:"origin,omitempty"`
	// Place is "file:line: field" of the value; empty for the default of the mesh.
	Place string `json:"place,omitempty"`
}

// String returns the time and the origin, as in "10s by kri_mt_default___slow_".
func (l Limit) String() string {
	text := "no limit"
	if l.Time != 0 {
		text = l.Time.String()
	}
	return text + " by " + cmp.Or(l.Origin, "default")
}

// Limits has a limit for each bound.
type Limits [Bounds]Limit
