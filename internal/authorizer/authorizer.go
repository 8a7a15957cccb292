// Package authorizer describes an external authorizer: a server that an inbound asks about
// a request, over the gRPC service envoy.service.auth.v3.Authorization.
//
// It guarantees that the request alone decides what the authorizer of the lab answers: on
// HTTP a header, on tcp the server name of the handshake. It knows neither policies nor Envoy.
package authorizer

import (
	"slices"
	"strings"
	"time"
)

// Authorizer is what an inbound knows of an authorizer.
type Authorizer struct {
	// Provider is its name in the mesh config.
	Provider string
	// Cluster is the cluster of Envoy behind which it is, as the control plane names it; "" where nothing
	// says that.
	Cluster string
	// Authority is the host that the calls are for; "" for the one of the cluster.
	Authority string
	// Timeout bounds the wait for an answer; 0 is Envoy's default.
	Timeout time.Duration
	// FailOpen lets a request pass where the authorizer gives no answer.
	FailOpen bool
	// StatusOnError is the HTTP status of a request that the authorizer gives no answer about; 0 means 403.
	StatusOnError int
	// Unreachable is an authorizer that gives no answer.
	Unreachable bool
}

// The authorizer of the lab lets a request pass that has the header with the value, and a
// connection of tcp with the server name.
const (
	Header     = "x-ext-authz"
	Value      = "allow"
	ServerName = "allow.ext-authz"
)

// AllowsRequest reports whether the authorizer of the lab lets a request with these lines of
// [Header] pass. Some Envoys join the lines before a policy compares them: then the
// authorizer does as well.
func AllowsRequest(lines []string, joins bool) bool {
	if joins && len(lines) > 0 {
		lines = []string{strings.Join(lines, ",")}
	}
	return slices.Contains(lines, Value)
}

// AllowsConnection reports whether the authorizer of the lab lets a connection of tcp with the
// server name pass. Envoy compares a server name in lower case.
func AllowsConnection(serverName string) bool { return strings.ToLower(serverName) == ServerName }
