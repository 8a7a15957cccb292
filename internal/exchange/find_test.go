package exchange_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

var (
	source  = netip.MustParseAddrPort("10.0.0.1:1024")
	address = netip.MustParseAddrPort("10.0.0.7:80")
)

// served is the evidence of a request that the application answered.
func served() exchange.Evidence {
	log := xds.AccessLog{Request: true, Caller: source, Destination: address, PeerURIs: []string{"spiffe://td/web"}, Status: 200, Details: "via_upstream"}
	log.Enforced = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "friends"}}
	return exchange.Evidence{
		Identity: "spiffe://td/web",
		Answer:   exchange.Answer{Status: 200},
		Outbound: outboundlog.Entry{
			Caller: source, Route: "r", Cluster: "c", Endpoint: "shop", Peer: []string{"spiffe://td/shop"}, Status: 200, Details: "via_upstream", Attempts: 1,
			Forwarded: 90, Duration: 5 * time.Millisecond,
		},
		Inbound:   &exchange.Inbound{Name: "shop", Identity: "spiffe://td/shop", Address: address, Log: log},
		Arrival:   &arrival.Record{Requests: 1, Header: http.Header{"X-Forwarded-Client-Cert": {"Hash=00;URI=spiffe://td/web"}}},
		Endpoints: []string{"shop", "store"},
	}
}

// timedOut is the evidence of a request that its route ended.
func timedOut() exchange.Evidence {
	e := served()
	e.Answer.Status, e.Outbound.Status, e.Outbound.Details, e.Outbound.Flags = 504, 504, "response_timeout", []string{"UT"}
	e.Inbound.Log.Status, e.Inbound.Log.Details = 0, "downstream_remote_disconnect"
	e.Counts = &exchange.Counts{routing.Request: 1}
	return e
}

func denied() exchange.Evidence {
	e := served()
	e.Answer.Status, e.Outbound.Status, e.Arrival = 403, 403, nil
	e.Inbound.Log.Enforced.Verdict = policy.Verdict{Origin: "default"}
	e.Counts = &exchange.Counts{}
	return e
}

func TestFind(t *testing.T) {
	t.Parallel()
	for want, e := range map[routing.Cause]exchange.Evidence{
		routing.Answered: served(), routing.Bounded(routing.Request): timedOut(), routing.Denied: denied(),
	} {
		f, err := e.Find()
		if err != nil || f.Cause != want || f.Route != "r" || f.Cluster != "c" || f.Backend != "shop" || !f.Judged {
			t.Errorf("%s: %+v, %v", want, f, err)
		}
	}
}

// TestDisagreements has, for each side that may contradict the others, the words of the error.
func TestDisagreements(t *testing.T) {
	t.Parallel()
	for want, tt := range map[string]struct {
		evidence exchange.Evidence
		change   func(*exchange.Evidence)
	}{
		"the outbound logged status 500":                {served(), func(e *exchange.Evidence) { e.Outbound.Status = 500 }},
		"the outbound sent 7 bytes of one":              {served(), func(e *exchange.Evidence) { e.Answer.End, e.Outbound.Sent = exchange.Reset, 7 }},
		`the caller gave up, and the outbound says "vi`: {served(), func(e *exchange.Evidence) { e.Answer.End = exchange.GaveUp }},
		`gRPC status 14, and the outbound logged "0"`: {served(), func(e *exchange.Evidence) {
			e.Request.GRPC, e.Answer.GRPC, e.Outbound.GRPC = "shop.Orders/List", 14, "0"
		}},
		`the inbound shop took the request`:              {served(), func(e *exchange.Evidence) { e.Outbound.Endpoint = "store" }},
		`it chose the endpoint "other", and the cluster`: {served(), func(e *exchange.Evidence) { e.Outbound.Endpoint, e.Inbound.Name = "other", "other" }},
		`it saw the certificate of ["spiffe://td/evil"]`: {served(), func(e *exchange.Evidence) { e.Outbound.Peer = []string{"spiffe://td/evil"} }},
		`the inbound saw ["spiffe://td/evil"]`:           {served(), func(e *exchange.Evidence) { e.Inbound.Log.PeerURIs = []string{"spiffe://td/evil"} }},
		"the inbound saw 10.0.0.2:1024":                  {served(), func(e *exchange.Evidence) { e.Inbound.Log.Caller = netip.MustParseAddrPort("10.0.0.2:1024") }},
		"has the address 10.0.0.7:80, and logged 10.0.0.8:80": {served(), func(e *exchange.Evidence) {
			e.Inbound.Log.Destination = netip.MustParseAddrPort("10.0.0.8:80")
		}},
		`to the endpoint "shop", which is no inbound`:           {served(), func(e *exchange.Evidence) { e.Inbound, e.Arrival = nil, nil }},
		"it sent the request 2 times":                           {served(), func(e *exchange.Evidence) { e.Outbound.Attempts = 2 }},
		"the application saw nothing":                           {served(), func(e *exchange.Evidence) { e.Arrival = nil }},
		"the application saw 2 requests":                        {served(), func(e *exchange.Evidence) { e.Arrival.Requests = 2 }},
		`the application saw the path "/b"`:                     {served(), func(e *exchange.Evidence) { e.Arrival.Path = "/b" }},
		`the caller "spiffe://td/evil"`:                         {served(), func(e *exchange.Evidence) { e.Arrival.Header.Set("x-forwarded-client-cert", "URI=spiffe://td/evil") }},
		"the cluster c, which the program has":                  {served(), func(e *exchange.Evidence) { e.Outbound.Details = "cluster_not_found" }},
		"that no inbound let pass":                              {denied(), func(e *exchange.Evidence) { e.Arrival = &arrival.Record{Requests: 1} }},
		"a refused request moved the counter of requestTimeout": {denied(), func(e *exchange.Evidence) { e.Counts[routing.Request] = 1 }},
		"the counter of requestTimeout moved by 0":              {timedOut(), func(e *exchange.Evidence) { e.Counts[routing.Request] = 0 }},
		"the caller got 7 bytes, and the outbound sent 6":       {served(), func(e *exchange.Evidence) { e.Protocol, e.Answer.Bytes, e.Outbound.Sent = policy.TCP, 7, 6 }},
		`its flags are ["SI"], without UT`:                      {timedOut(), func(e *exchange.Evidence) { e.Outbound.Flags = []string{"SI"} }},
	} {
		e := tt.evidence
		tt.change(&e)
		_, err := e.Find()
		if disagreement := (*exchange.Disagreement)(nil); !errors.As(err, &disagreement) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestCauses reads each reason of Envoy. A reason that nobody knows proves nothing.
func TestCauses(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"response_timeout": "requestTimeout", "stream_idle_timeout": "streamIdleTimeout", "upstream_max_stream_duration_reached": "maxStreamDuration",
		"request_header_timeout": "requestHeadersTimeout", "max_duration_timeout": "sentinel", "route_not_found": "noRoute",
		"direct_response": "noBackend", "cluster_not_found": "noBackend", "no_healthy_upstream": "noEndpoint",
		"upstream_reset_before_response_started{connection_timeout}":                                                  "connectionTimeout",
		"upstream_reset_before_response_started{remote_connection_failure|delayed_connect_error:_Connection_refused}": "refused",
		"downstream_remote_disconnect": "leftByCaller",
	} {
		flags := []string{"UT", "SI", "UMSDR", "UF"}
		e := exchange.Evidence{Answer: exchange.Answer{Status: 503}, Outbound: outboundlog.Entry{Status: 503, Details: reason, Flags: flags}}
		if f, err := e.Find(); err != nil || f.Cause.String() != want {
			t.Errorf("%s: %s, %v; want %s", reason, f.Cause, err, want)
		}
	}
	for name, e := range map[string]exchange.Evidence{"nothing else": {}, "an answer of the inbound": served()} {
		e.Outbound.Details = "moonlight"
		if _, err := e.Find(); err == nil || !strings.Contains(err.Error(), `the reason "moonlight", which the lab does not know`) {
			t.Errorf("an unknown reason beside %s: %v", name, err)
		}
	}
	tcp := exchange.Evidence{Protocol: policy.TCP, Outbound: outboundlog.Entry{Flags: []string{"UF"}}}
	if _, err := tcp.Find(); err == nil || !strings.Contains(err.Error(), "only the counters") {
		t.Errorf("a connection without a reason: %v", err)
	}
	tcp.Outbound.Flags = []string{"DT"}
	if f, err := tcp.Find(); err != nil || f.Cause != routing.Sentinel {
		t.Errorf("a connection that the bound beside the program ended: %s, %v", f.Cause, err)
	}
}
