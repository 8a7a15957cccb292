// Package outboundlog is the access log of an outbound: what Envoy is told to write, and how an
// entry is read.
//
// It guarantees that each field of an [Entry] is one word of Envoy's, which is not computed
// from others. Envoy sends the entries over OTLP: no other log has the names in the certificate
// of an endpoint.
package outboundlog

import (
	"net/netip"
	"strings"
	"time"
)

// Entry is an entry of the access log of an outbound, reduced to what is evidence. The names in
// it are those of the program.
type Entry struct {
	// Caller and Destination are the addresses that the caller plays.
	Caller, Destination netip.AddrPort
	// Began is the time of the first byte of the request.
	Began time.Time
	// Route and Cluster name what took the request; empty for none.
	Route, Cluster string
	// Endpoint is the name of the inbound that the cluster chose, or the address of a port of
	// this machine (%UPSTREAM_REMOTE_ADDRESS%); empty for none.
	Endpoint string
	// Peer are the URI SANs of the certificate of the endpoint (%UPSTREAM_PEER_URI_SAN%).
	Peer []string
	// Status is the HTTP status that the caller got; 0 for none. GRPC is the number of
	// the gRPC status; empty for none.
	Status int
	GRPC   string
	// Flags and Details say how the request ended (%RESPONSE_FLAGS%, %RESPONSE_CODE_DETAILS%).
	Flags   []string
	Details string
	// Failure says why no connection to the endpoint came about
	// (%UPSTREAM_TRANSPORT_FAILURE_REASON%).
	Failure string
	// Attempts counts the times that the request was sent on.
	Attempts int
	// Duration is the time from the first byte of the request to the last of the answer, by
	// Envoy's own clock.
	Duration time.Duration
	// Received and Sent are the bytes of the caller's body and of the answer's. Forwarded are
	// those of the request as they went to the endpoint; 0 for a request that never did.
	Received, Sent, Forwarded uint64
}

// ReachedEndpoint reports whether the request went to the endpoint: behind a handshake, or in
// plaintext. Envoy does not count the bytes of each stream that it ended.
func (e Entry) ReachedEndpoint() bool { return e.Forwarded > 0 || len(e.Peer) > 0 }

// ResetByEndpoint reports whether the connection or the stream to the endpoint was reset before
// an answer began.
func (e Entry) ResetByEndpoint() bool { return strings.HasPrefix(e.Details, BeforeAnswer) }

// BeforeAnswer is the beginning of Envoy's reason for such a reset; its cause follows.
const BeforeAnswer = "upstream_reset_before_response_started{"
