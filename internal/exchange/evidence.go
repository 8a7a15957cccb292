package exchange

import (
	"net/netip"
	"time"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Tries is how often a request that proved nothing is sent again, by the harness where it was lost on its
// way, and by a run where the machine was too late for its times. Each attempt ends at a bound of
// 80 ms or more, and a machine under load stands still for longer than that some times in a row.
const Tries = 15

// Inbound is what the inbound of a mesh recorded of a request.
type Inbound struct {
	// Name is the name of the inbound in the mesh, and Identity the SPIFFE ID of its workload.
	Name, Identity string
	Address        netip.AddrPort
	// Plaintext is true for an inbound without TLS.
	Plaintext bool
	Log       xds.AccessLog
}

// Batch is the evidence of requests that were sent together.
type Batch struct {
	// Evidence has an entry for each request, in order.
	Evidence []Evidence
	// Filters are what the RBAC counters of each inbound moved by, for each filter and each rule, in
	// Envoy's order. What did not move is left out.
	Filters map[string][]evidence.FilterCounters
}

// ByInbound returns the logs of the inbounds that took the requests, as [evidence.Count] reads them.
func (b Batch) ByInbound() map[string][]evidence.Evidence {
	out := map[string][]evidence.Evidence{}
	for _, e := range b.Evidence {
		if in := e.Inbound; in != nil {
			out[in.Name] = append(out[in.Name], evidence.Evidence{Log: in.Log})
		}
	}
	return out
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
	Arrival *arrival.Record
	// Counts is nil where other requests moved the same counters: see [Request.Alone].
	Counts *Counts
	// Counted is when they were read. What moves later is not in them.
	Counted time.Time
	// Retries counts the earlier attempts, which proved nothing. A request with a cause is never
	// sent again.
	Retries int
	// Endpoints are the names of the inbounds of the cluster that the outbound's log names.
	Endpoints []string
}

// Finding is what the evidence proves.
type Finding struct {
	// Route and Cluster are the names of the program; empty for none.
	Route, Cluster string
	// Backend is the name of the inbound that took the request; empty for none.
	Backend string
	// Answer is what the caller got.
	Answer Answer
	Cause  routing.Cause
	// Duration is Envoy's own, of the outbound.
	Duration time.Duration
	// Judged tells whether a filter of the inbound ran; Verdict is then what all filters said.
	Judged  bool
	Verdict policy.Verdict
}
