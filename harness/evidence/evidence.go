package evidence

import (
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Evidence is everything that one request left behind.
type Evidence struct {
	Call   caller.Call
	Answer caller.Answer
	// Arrival is what reached the upstream, nil for nothing.
	Arrival *upstream.Arrival
	// Log is the access log's entry: that of the request where there was one,
	// otherwise that of the connection.
	Log xds.AccessLog
	// Shared is true for a request whose connection carried others too. Its entry was
	// told from theirs by its place, so that it has to name what was sent; the entry of
	// a connection of its own cannot be another's.
	Shared bool
	// Path is what the inbound's normalization makes of the path of a shared
	// connection's request; empty where none is foretold.
	Path string
	// Retries counts the transport faults before this evidence was gathered. A
	// verdict is never retried.
	Retries int
	// Took is the time from the first byte to the last piece of evidence.
	Took time.Duration
}

// Form is how a request ended.
type Form uint8

const (
	// Served means that the upstream got the request and the caller its answer.
	Served Form = iota
	// Refused means that an authorization filter refused it, in the form of its
	// layer.
	Refused
	// HandshakeFailed means that mTLS kept the caller out: no policy judged it.
	HandshakeFailed
	// Rejected means that Envoy answered with a status of its own for another
	// reason than authorization, say 400 for a path.
	Rejected
)

var formNames = [...]string{Served: "served", Refused: "refused", HandshakeFailed: "handshake failed", Rejected: "rejected"}

// String returns a few words for messages.
func (f Form) String() string { return formNames[f] }

// Finding is what the evidence proves.
type Finding struct {
	Form Form
	// Layer is the layer of the filter that refused the request.
	Layer policy.Layer
	// Status is the HTTP status of a request that was answered.
	Status int
	// Judged tells whether an enforcing engine ran; if so, Verdict is its effective
	// one.
	Judged  bool
	Verdict policy.Verdict
	// Shadow is what the shadow engine said.
	Shadow xds.Engine
}
