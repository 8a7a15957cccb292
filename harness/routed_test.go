package harness

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/pin"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

const ms = time.Millisecond

func limit(t time.Duration) routing.Limit { return routing.Limit{Time: t} }

// outboundTo is an outbound of each protocol with one route, to the cluster of the same name.
func outboundTo(name string, p policy.Protocol, change func(*routing.Outbound, *routing.Cluster)) (routing.Outbound, routing.Cluster) {
	o := routing.Outbound{Name: name, Port: 80, Protocol: p, Routes: []routing.Route{{Name: "route of " + name, Backends: []routing.Backend{{Cluster: name, Weight: 1}}}}}
	c := routing.Cluster{Name: name, Protocol: p}
	c.Limits[routing.Connection] = limit(5 * time.Second)
	if change != nil {
		change(&o, &c)
	}
	return o, c
}

// web is a sidecar with the outbounds.
func web(outbounds ...func() (routing.Outbound, routing.Cluster, []routingconfig.Endpoint)) routingconfig.Sidecar {
	s := routingconfig.Sidecar{Name: "web", Identity: frontend, Address: netip.MustParseAddr("10.0.0.1"), Endpoints: map[string][]routingconfig.Endpoint{}}
	for _, of := range outbounds {
		o, c, endpoints := of()
		s.Program.Outbounds = append(s.Program.Outbounds, o)
		s.Program.Clusters = append(s.Program.Clusters, c)
		s.Endpoints[c.Name] = endpoints
	}
	return s
}

// row is a request through an outbound of its own, and what becomes of it.
type row struct {
	name     string
	protocol policy.Protocol
	change   func(*routing.Outbound, *routing.Cluster)
	reach    script.Reach
	outbound string
	request  exchange.Request
	cause    routing.Cause
	end      exchange.End
	status   int
	grpc     int
}

var rows = []row{
	{name: "http", status: 200},
	{name: "http2", protocol: policy.HTTP2, status: 200},
	{name: "grpc", protocol: policy.GRPC, request: exchange.Request{GRPC: "a.B/C"}, status: 200},
	{name: "tcp", protocol: policy.TCP},
	{name: "request timeout", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(200 * ms) },
		request: exchange.Request{Answer: script.Answer{End: script.Stops}}, cause: routing.Bounded(routing.Request), status: 504},
	{name: "request timeout, control", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(time.Second) },
		request: exchange.Request{Answer: script.Answer{After: 20 * ms}}, status: 200},
	{name: "request timeout in the body", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(800 * ms) },
		request: exchange.Request{Answer: script.Answer{Parts: 90, Every: 20 * ms}}, cause: routing.Bounded(routing.Request), end: exchange.Cut, status: 200},
	{name: "grpc timeout", protocol: policy.GRPC, change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(200 * ms) },
		request: exchange.Request{GRPC: "a.B/C", Answer: script.Answer{End: script.Stops}}, cause: routing.Bounded(routing.Request), status: 200, grpc: 14},
	{name: "http2 timeout in the body", protocol: policy.HTTP2, change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(800 * ms) },
		request: exchange.Request{Answer: script.Answer{Parts: 90, Every: 20 * ms}}, cause: routing.Bounded(routing.Request), end: exchange.Cut, status: 200},
	{name: "stream idle", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].StreamIdle = limit(150 * ms) },
		request: exchange.Request{Answer: script.Answer{End: script.Stops}}, cause: routing.Bounded(routing.StreamIdle), status: 504},
	{name: "max stream", change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.MaxStream] = limit(150 * ms) },
		request: exchange.Request{Answer: script.Answer{End: script.Stops}}, cause: routing.Bounded(routing.MaxStream), status: 504},
	{name: "connect timeout", reach: script.BlackHole, change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.Connection] = limit(150 * ms) },
		cause: routing.Bounded(routing.Connection), status: 503},
	{name: "tcp connect timeout", protocol: policy.TCP, reach: script.BlackHole, change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.Connection] = limit(150 * ms) },
		request: exchange.Request{Alone: true}, cause: routing.Bounded(routing.Connection), end: exchange.Reset},
	{name: "refused", reach: script.Refuses, cause: routing.Refused, status: 503},
	{name: "tcp refused", protocol: policy.TCP, reach: script.Refuses, request: exchange.Request{Alone: true}, cause: routing.Refused, end: exchange.Reset},
	{name: "request headers", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Headers = limit(150 * ms) },
		request: exchange.Request{HeadPause: 2 * time.Second}, cause: routing.Bounded(routing.RequestHeaders), status: 408},
	{name: "idle", change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.Idle] = limit(150 * ms) },
		request: exchange.Request{Keep: 2 * time.Second, Alone: true}, cause: routing.Bounded(routing.Idle), status: 200},
	{name: "idle, control", change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.Idle] = limit(time.Second) },
		request: exchange.Request{Keep: 20 * ms, Alone: true}, status: 200},
	{name: "max connection", change: func(_ *routing.Outbound, c *routing.Cluster) { c.Limits[routing.MaxConnection] = limit(150 * ms) },
		request: exchange.Request{Keep: 2 * time.Second, Alone: true}, cause: routing.Bounded(routing.MaxConnection), status: 200},
	// The connection to the inbound comes about within the time, on a busy machine too.
	{name: "tcp idle", protocol: policy.TCP, change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Idle = limit(500 * ms) },
		request: exchange.Request{Keep: 2 * time.Second, Alone: true}, cause: routing.Bounded(routing.Idle)},
	{name: "no backend", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Backends = nil }, cause: routing.NoBackend, status: 500},
	{name: "unresolved", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Backends = []routing.Backend{{Weight: 1}} }, cause: routing.NoBackend, status: 500},
	{name: "no route", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].When = attribute.Path.Exact("/other") }, cause: routing.NoRoute, status: 404},
	{name: "no endpoint", outbound: "none", cause: routing.NoEndpoint, status: 503},
	{name: "broken", request: exchange.Request{Answer: script.Answer{End: script.Closes}}, cause: routing.Broken, status: 503},
	{name: "broken body", request: exchange.Request{Answer: script.Answer{Parts: 1, Every: 10 * ms, End: script.Closes}}, cause: routing.Broken, end: exchange.Cut, status: 200},
	{name: "plain", outbound: "plain http", status: 200},
	{name: "plain timeout", outbound: "plain http", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(200 * ms) },
		request: exchange.Request{Answer: script.Answer{End: script.Stops}}, cause: routing.Bounded(routing.Request), status: 504},
	{name: "plain http2 timeout", outbound: "plain http2", protocol: policy.HTTP2, change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(200 * ms) },
		request: exchange.Request{Answer: script.Answer{End: script.Stops}}, cause: routing.Bounded(routing.Request), status: 504},
	{name: "denied", outbound: "denied", cause: routing.Denied, status: 403},
	{name: "denied before a timeout", outbound: "denied", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(2 * time.Second) }, request: exchange.Request{Alone: true}, cause: routing.Denied, status: 403},
	{name: "denied on L4", outbound: "denied on L4", cause: routing.Denied, status: 503},
	{name: "tcp denied", outbound: "tcp denied", protocol: policy.TCP, cause: routing.Denied, end: exchange.Closed},
	{name: "impatient", request: exchange.Request{Patience: 50 * ms, Answer: script.Answer{End: script.Stops}}, cause: routing.LeftByCaller, end: exchange.GaveUp},
	{name: "slow body", change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(400 * ms) },
		request: exchange.Request{Method: "POST", Body: "hello", BodyPause: 450 * ms}, status: 200},
	{name: "open stream", protocol: policy.GRPC, change: func(o *routing.Outbound, _ *routing.Cluster) { o.Routes[0].Request = limit(50 * ms) },
		request: exchange.Request{GRPC: "a.B/C", Open: true, Answer: script.Answer{Parts: 3, Every: 60 * ms}}, status: 200},
}

// spec has an inbound of each protocol, those that deny, and a sidecar with an outbound for
// each row.
func specOf(t testing.TB, rows []row) MeshSpec {
	spec := MeshSpec{TrustDomains: inbounds(t, onlyFrontend).TrustDomains}
	spec.Inbounds = inbounds(t, onlyFrontend).Inbounds
	deny := func(name string, p policy.Protocol, layer policy.Layer, port uint16) {
		spec.Inbounds = append(spec.Inbounds, Inbound{Name: name, Identity: backend, Address: address(port), Protocol: p, Filters: compile(t, constant(layer, policy.Deny))})
	}
	deny("denied", policy.HTTP, policy.L7, 7001)
	deny("denied on L4", policy.HTTP, policy.L4, 7002)
	deny("tcp denied", policy.TCP, policy.L4, 7003)
	// Without TLS the outbound's log has no certificate that shows that a request reached the inbound.
	for _, p := range []policy.Protocol{policy.HTTP, policy.HTTP2} {
		spec.Inbounds = append(spec.Inbounds, Inbound{Name: "plain " + p.String(), Identity: backend, Address: address(7100 + uint16(p)), Protocol: p, MTLS: xds.Disable, JudgesPlaintext: true, Filters: compile(t, constant(policy.L7, policy.Allow))})
	}
	var outbounds []func() (routing.Outbound, routing.Cluster, []routingconfig.Endpoint)
	for _, r := range rows {
		outbounds = append(outbounds, func() (routing.Outbound, routing.Cluster, []routingconfig.Endpoint) {
			o, c := outboundTo(strings.ReplaceAll(r.name, " ", "-"), r.protocol, r.change)
			endpoints := []routingconfig.Endpoint{{Inbound: cmp.Or(r.outbound, r.protocol.String())}}
			switch {
			case r.reach != script.Accepts:
				endpoints = []routingconfig.Endpoint{{Reach: r.reach}}
			case r.outbound == "none":
				endpoints = nil
			}
			return o, c, endpoints
		})
	}
	spec.Sidecars = []routingconfig.Sidecar{web(outbounds...)}
	return spec
}

// TestSendRouted sends a request through an outbound for each bound and each way to end, with its
// neighbour that no bound ends.
func TestSendRouted(t *testing.T) {
	t.Parallel()
	checkRows(t, sharedEnvoy.Get(t), rows)
}

// checkRows sends a row again whose end differs, for a busy machine may be too late for a bound. What is
// wrong for another reason is wrong each time.
func checkRows(t *testing.T, h *Harness, rows []row) {
	m := h.Mesh(t, specOf(t, rows))
	for try := 1; len(rows) > 0; try++ {
		requests := make([]exchange.Request, len(rows))
		for i, r := range rows {
			requests[i] = r.request
			requests[i].From, requests[i].To = "web", strings.ReplaceAll(r.name, " ", "-")
		}
		all, err := m.SendRouted(t.Context(), requests...)
		if err != nil {
			t.Fatal(err)
		}
		checkCounted(t, m, all)
		var differ []row
		for i, r := range rows {
			e := all.Evidence[i]
			f, err := e.Find()
			switch {
			case err != nil:
				t.Errorf("%s: %v\n%+v", r.name, err, e.Outbound)
			case f.Cause == r.cause && f.Answer.End == r.end && f.Answer.Status == r.status && int(f.Answer.GRPC) == r.grpc:
			case try == 5:
				t.Errorf("%s: %s, %s %+v\n%+v", r.name, f.Cause, f.Answer, f.Answer, e.Outbound)
			default:
				differ = append(differ, r)
			}
		}
		rows = differ
	}
}

// checkCounted holds the counters of all inbounds against their logs.
func checkCounted(t *testing.T, m *Mesh, batch exchange.Batch) {
	t.Helper()
	logs := batch.ByInbound()
	for _, in := range m.userInbounds() {
		if diff := gocmp.Diff(evidence.Count(logs[in.Name]), batch.Filters[in.Name]); diff != "" {
			t.Errorf("%s: the counters and the log differ (-log +counters):\n%s", in.Name, diff)
		}
	}
}

// TestRoutedCounters sends requests through a sidecar and without one. The counters of each batch are
// those of its own requests. The positive control is in none.
func TestRoutedCounters(t *testing.T) {
	t.Parallel()
	m := meshOf(t, sharedEnvoy.Get(t), shop(routeTo("all", nil, "http")))
	through := exchange.Request{From: "web", To: "shop"}
	for range 2 {
		direct, err := m.Send(t.Context(), Request{To: "http", Credential: mint(t, m, intruder)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(map[string]evidence.Counters{"http": {Denied: 1, ShadowDenied: 1}}, direct.Counters); diff != "" {
			t.Errorf("a request without a sidecar (-want +got):\n%s", diff)
		}
		routed, err := m.SendRouted(t.Context(), through, through)
		if err != nil {
			t.Fatal(err)
		}
		checkCounted(t, m, routed)
		if got := evidence.Sum(routed.Filters["http"]); got != (evidence.Counters{Allowed: 2, ShadowDenied: 2}) {
			t.Errorf("two requests through a sidecar: %s", got)
		}
	}
}

// TestSendRoutedElsewhere does the same on the oldest release, on all others where tests may be slow,
// and in a container.
func TestSendRoutedElsewhere(t *testing.T) {
	t.Parallel()
	versions := pin.Versions()
	if testing.Short() {
		versions = []string{slices.MinFunc(versions, strings.Compare)}
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			checkRows(t, ownHarness(t, WithEnvoy(version), WithMeshes(1)), rows)
		})
	}
	t.Run("container", func(t *testing.T) {
		t.Parallel()
		checkRows(t, inContainer(t, WithMeshes(1)), rows)
	})
}
