package passage

import (
	"fmt"
	"strings"
	"time"

	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Inbound is what the inbound of a mesh recorded of a request.
type Inbound struct {
	// Name is the name of the inbound in the mesh, and Identity the SPIFFE ID of its workload.
	Name, Identity string
	Log            xds.AccessLog
}

// Counts are the counters of an outbound and of its clusters that moved, by the bounds that
// move them.
type Counts [routing.Bounds]uint64

// Evidence is all that was recorded of one request.
type Evidence struct {
	Request  Request
	Protocol policy.Protocol
	// Identity is the SPIFFE ID of the sidecar that sent the request on.
	Identity string
	Answer   Answer
	Outbound outboundlog.Entry
	// Inbound is nil where the request reached none.
	Inbound *Inbound
	// Arrival is nil where nothing reached the upstream.
	Arrival *upstream.Arrival
	// Counts is nil where other requests moved the same counters: see [Request.Alone].
	Counts *Counts
	// Endpoints are the names of the inbounds of the cluster that the outbound's log names.
	Endpoints []string
}

// Cause is why a request ended as it did. The zero value is an answer of the application.
type Cause uint8

// The causes that are no bound; [Bounded] gives the others.
const (
	// Answered means that the application answered.
	Answered Cause = iota
	// Denied means that the inbound refused the request.
	Denied
	// NoRoute means that no route took the request: 404.
	NoRoute
	// NoBackend means that the backend does not exist: 500.
	NoBackend
	// NoEndpoint means that the cluster has no healthy endpoint: 503.
	NoEndpoint
	// Refused means that no connection to the endpoint came about, before any bound.
	Refused
	// Broken means that the application ended the connection or the stream without a whole
	// answer.
	Broken
	// LeftByCaller means that the caller ended the connection first.
	LeftByCaller
	// Sentinel means that a bound beside those of the program took effect: see
	// [routingconfig.Sentinels].
	Sentinel
	bounded
)

// Bounded is the cause of a request that a bound ended.
func Bounded(b routing.Bound) Cause { return bounded + Cause(b) }

// Bound returns the bound that ended the request, and false for another cause.
func (c Cause) Bound() (routing.Bound, bool) {
	if c < bounded {
		return 0, false
	}
	return routing.Bound(c - bounded), true
}

var causes = [...]string{
	Answered: "answered", Denied: "denied", NoRoute: "noRoute", NoBackend: "noBackend", NoEndpoint: "noEndpoint", Refused: "refused",
	Broken: "broken", LeftByCaller: "leftByCaller", Sentinel: "sentinel",
}

// String returns the word for the cause that stands in case files: for a bound its name, such as
// "requestTimeout".
func (c Cause) String() string {
	if bound, ok := c.Bound(); ok {
		return bound.String()
	}
	return causes[c]
}

// UnmarshalText reads the word of a cause. An unknown word is an error that lists the known ones.
func (c *Cause) UnmarshalText(text []byte) error {
	var known []string
	for of := Answered; of < bounded+Cause(routing.Bounds); of++ {
		if of.String() == string(text) {
			*c = of
			return nil
		}
		known = append(known, of.String())
	}
	return fmt.Errorf("cause %q is unknown: use one of %s", text, strings.Join(known, ", "))
}

// MarshalText returns the word of the cause.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Finding is what the evidence proves.
type Finding struct {
	// Route and Cluster are the names of the program; empty for none.
	Route, Cluster string
	// Backend is the name of the inbound that took the request; empty for none.
	Backend string
	// Answer is what the caller got.
	Answer Answer
	Cause  Cause
	// Duration is Envoy's own, of the outbound.
	Duration time.Duration
	// Judged tells whether a filter of the inbound ran; Verdict is then what all filters said.
	Judged  bool
	Verdict policy.Verdict
}
