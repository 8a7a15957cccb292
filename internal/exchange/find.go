package exchange

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/policy"
)

// Disagreement is the error of evidence whose sides contradict each other.
type Disagreement struct {
	// Cause is what the log of the outbound says.
	Cause routing.Cause
	Sides []string
}

// Error lists the sides that contradict the cause.
func (d *Disagreement) Error() string {
	return fmt.Sprintf("exchange: the outbound says that it was %s, but %s", d.Cause, strings.Join(d.Sides, "; "))
}

type checklist []string

func (c *checklist) want(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

// Find compares the sides with each other. Its error is a [Disagreement], or names a field that
// says nothing known: then nothing is proven.
func (e Evidence) Find() (Finding, error) {
	cause, err := e.cause()
	if err != nil {
		return Finding{}, err
	}
	f := Finding{
		Route: e.Outbound.Route, Cluster: e.Outbound.Cluster, Answer: e.Answer, Cause: cause, Duration: e.Outbound.Duration,
	}
	if e.Inbound != nil {
		f.Backend, f.Judged, f.Verdict = e.Inbound.Name, e.Inbound.Log.Enforced.Ran, e.Inbound.Log.Enforced.Verdict
	}
	var sides checklist
	e.checkAnswer(&sides)
	e.checkBackend(&sides, cause)
	e.checkArrival(&sides, cause)
	e.checkBound(&sides, cause)
	if len(sides) > 0 {
		return f, &Disagreement{Cause: cause, Sides: sides}
	}
	return f, nil
}

// checkAnswer compares what the caller got with the log of its sidecar.
func (e Evidence) checkAnswer(sides *checklist) {
	if e.Protocol.Layer() == policy.L4 {
		sides.want(uint64(e.Answer.Bytes) <= e.Outbound.Sent, "the caller got %d bytes, and the outbound sent %d", e.Answer.Bytes, e.Outbound.Sent)
		return
	}
	switch e.Answer.End {
	case Complete, Cut:
		sides.want(e.Answer.Status == e.Outbound.Status, "the caller got %s, and the outbound logged status %d", e.Answer, e.Outbound.Status)
	case Closed, Reset:
		sides.want(e.Outbound.Sent == 0, "the caller got no answer, and the outbound sent %d bytes of one", e.Outbound.Sent)
	case GaveUp:
		sides.want(e.Outbound.Details == "" || strings.HasPrefix(e.Outbound.Details, "downstream_") || strings.HasPrefix(e.Outbound.Details, "http2.remote_reset"),
			"the caller gave up, and the outbound says %q", e.Outbound.Details)
	}
	if e.Request.GRPC != "" && e.Answer.End == Complete {
		sides.want(e.Outbound.GRPC == strconv.Itoa(int(e.Answer.GRPC)), "the caller got the gRPC status %d, and the outbound logged %q", e.Answer.GRPC, e.Outbound.GRPC)
	}
}

// checkBackend compares the endpoint that the outbound chose with the inbound that took the
// request: by the name of the endpoint, and by both certificates.
func (e Evidence) checkBackend(sides *checklist, cause routing.Cause) {
	if e.Inbound == nil {
		sides.want(!e.Outbound.ReachedEndpoint(), "it sent the request to the endpoint %q, which is no inbound", e.Outbound.Endpoint)
		return
	}
	in := e.Inbound
	sides.want(slices.Contains(e.Endpoints, e.Outbound.Endpoint), "it chose the endpoint %q, and the cluster %s has %q", e.Outbound.Endpoint, e.Outbound.Cluster, e.Endpoints)
	sides.want(e.Outbound.Endpoint == in.Name, "it chose the endpoint %q, and the inbound %s took the request", e.Outbound.Endpoint, in.Name)
	sides.want(in.Log.Caller == e.Outbound.Caller, "its caller is %s, and the inbound saw %s", e.Outbound.Caller, in.Log.Caller)
	sides.want(in.Log.Destination == in.Address, "the inbound %s has the address %s, and logged %s", in.Name, in.Address, in.Log.Destination)
	if in.Plaintext {
		return
	}
	sides.want(slices.Equal(e.Outbound.Peer, []string{in.Identity}), "it saw the certificate of %q, and the inbound %s is %s", e.Outbound.Peer, in.Name, in.Identity)
	sides.want(cause == routing.Refused || slices.Equal(in.Log.PeerURIs, []string{e.Identity}), "its sidecar is %s, and the inbound saw %q", e.Identity, in.Log.PeerURIs)
}

// checkArrival compares what the application saw with the verdict of the inbound.
func (e Evidence) checkArrival(sides *checklist, cause routing.Cause) {
	passed := e.Inbound != nil && (!e.Inbound.Log.Enforced.Ran || e.Inbound.Log.Enforced.Verdict.Effect == policy.Allow)
	switch {
	case e.Arrival != nil && !passed:
		sides.want(false, "the application saw a request that no inbound let pass")
	case e.Arrival != nil:
		sides.want(e.Arrival.Requests == 1, "the application saw %d requests", e.Arrival.Requests)
		e.checkForwarded(sides)
	case cause == routing.Answered:
		sides.want(false, "the application saw nothing")
	}
	if e.Inbound != nil && e.Protocol.Layer() == policy.L7 {
		sides.want(e.Outbound.Attempts == 1, "it sent the request %d times", e.Outbound.Attempts)
	}
}

// checkForwarded compares the request that the application saw with the log of the inbound, which
// tells it who sent the request.
func (e Evidence) checkForwarded(sides *checklist) {
	if e.Protocol.Layer() == policy.L4 {
		return
	}
	sides.want(requestline.Logged(e.Arrival.Path) == e.Inbound.Log.Path, "the application saw the path %q, and the inbound %q", e.Arrival.Path, e.Inbound.Log.Path)
	if !e.Inbound.Plaintext {
		_, uri, _ := strings.Cut(e.Arrival.XFCC(), "URI=")
		sides.want(uri == e.Identity, "the application was told of the caller %q, and the sidecar is %s", uri, e.Identity)
	}
}

// checkBound compares the cause with the flag in the log, and with the counters that moved. A
// counter says less than a field: the counter of a connection moves when the request has ended
// already.
func (e Evidence) checkBound(sides *checklist, cause routing.Cause) {
	bound, ok := cause.Bound()
	if e.Counts != nil && ok {
		sides.want(e.Counts[bound] == 1, "the counter of %s moved by %d", bound, e.Counts[bound])
	}
	if e.Counts != nil && cause == routing.Denied {
		for _, of := range []routing.Bound{routing.Request, routing.StreamIdle, routing.MaxStream} {
			sides.want(e.Counts[of] == 0, "a refused request moved the counter of %s", of)
		}
	}
	if cause == routing.NoBackend {
		sides.want(e.Outbound.Cluster == "" || e.Outbound.Cluster == routingconfig.Nothing, "it looked for the cluster %s, which the program has", e.Outbound.Cluster)
	}
	if flag := flags[bound]; ok && flag != "" && e.Protocol.Layer() == policy.L7 {
		sides.want(slices.Contains(e.Outbound.Flags, flag), "its flags are %q, without %s", e.Outbound.Flags, flag)
	}
}

// flags are those of Envoy for the bounds that have one (%RESPONSE_FLAGS%).
var flags = [routing.Bounds]string{routing.Request: "UT", routing.StreamIdle: "SI", routing.MaxStream: "UMSDR", routing.Connection: "UF"}
