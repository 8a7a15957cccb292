package routeverdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Expectation is what must become of a request through a sidecar.
type Expectation struct {
	// Outbound is the port of the service that is called.
	Outbound routing.Outbound
	// Decision is what the program says, with the limits of the listener and the route. Second
	// is what the plain evaluator says. They must be alike.
	Decision, Second routing.Decision
	// Outcomes are the ends that the request may have: one for each inbound behind a backend
	// with a share, and one where no inbound takes it.
	Outcomes []Outcome
	// Sentinel is when a bound beside those of the program ends the request; 0 for none.
	Sentinel time.Duration
	// Unclear says why nothing can be expected; nil where something can.
	Unclear error
	// spoken is the protocol of the answers that proxies give: that of a gRPC outbound is HTTP/2 for a
	// request that is no call.
	spoken policy.Protocol
	// clusters has the limits of each backend beside those of the listener and the route.
	clusters map[string]routing.Limits
}

// limits are all limits of a request that goes to a backend; "" for none.
func (x Expectation) limits(cluster string) routing.Limits {
	if limits, ok := x.clusters[cluster]; ok {
		return limits
	}
	return x.Decision.Limits
}

// Outcome is the end of a request at one backend.
type Outcome struct {
	// Cluster is the backend, and Inbound the inbound that takes the request; empty for none.
	Cluster, Inbound string
	Cause            routing.Cause
	// Limit is that of the bound that takes effect, and Time that of the end.
	Limit routing.Limit
	Time  time.Duration
	// End, Status and GRPC are what the caller gets. On tcp there is no status.
	End    exchange.End
	Status int
	GRPC   codes.Code
	// Verdict is what the policies of the inbound decide; nil where they are not asked.
	Verdict *policy.Verdict
}

// Earliest returns the earliest time at which a bound may end the request, and false where no bound
// does, or where it ends a connection that was kept after a whole answer.
func (o Outcome) Earliest() (time.Duration, bool) {
	_, bounded := o.Cause.Bound()
	return max(0, o.Time-early), bounded && !(o.Status == 200 && o.End == exchange.Complete)
}

func (x Expectation) endsByBound() bool {
	return slices.ContainsFunc(x.Outcomes, func(o Outcome) bool {
		bound, ok := o.Cause.Bound()
		return ok && bound != routing.Idle && bound != routing.MaxConnection
	})
}

// latest is the latest of the ends.
func (x Expectation) latest() (at time.Duration) {
	for _, o := range x.Outcomes {
		at = max(at, o.Time)
	}
	return at
}

// Expect follows a request of the workload.
func (s Sidecar) Expect(p casefile.RoutedRequest) Expectation {
	x, err := s.follow(p)
	x.Unclear = err
	return x
}

func (s Sidecar) follow(p casefile.RoutedRequest) (Expectation, error) {
	o, err := s.Program.Find(p.To)
	if err != nil {
		return Expectation{}, err
	}
	x := Expectation{Outbound: *o, spoken: o.Protocol}
	if o.Protocol == policy.GRPC && p.GRPC == "" {
		x.spoken = policy.HTTP2
	}
	if err := checkProtocol(o, p); err != nil {
		return x, err
	}
	seen := Seen(o, p)
	// Old releases join the lines of a header before they match a route.
	seen.JoinsLines = !s.inbounds.Envoy().Fixed(behavior.RouteLines)
	plain := seen
	if p, err = s.normalize(o, p, &seen, &plain); err != nil {
		return x, err
	}
	x.Decision = o.Decide(seen)
	var ok bool
	if x.Second, ok = s.routing.Follow(s.workload, o.Name, plain); !ok {
		return x, fmt.Errorf("the plain evaluator has no outbound %s", o.Name)
	}
	switch isTCP := o.Protocol.Layer() == policy.L4; {
	case x.Decision.Route == "":
		x.answers(routing.NoRoute, 404, codes.Unimplemented, isTCP)
	case len(x.Decision.Backends) == 0:
		x.answers(routing.NoBackend, 500, codes.Unknown, isTCP)
	}
	for _, b := range x.Decision.Backends {
		switch {
		case b.Weight == 0:
		case b.Cluster == "":
			x.answers(routing.NoBackend, 500, codes.Unknown, o.Protocol.Layer() == policy.L4)
		default:
			if err := s.addOutcomes(&x, p, b.Cluster); err != nil {
				return x, err
			}
		}
	}
	return x, nil
}

// answers adds the end that the sidecar gives by itself.
func (x *Expectation) answers(cause routing.Cause, status int, grpc codes.Code, isTCP bool) {
	out := Outcome{Cause: cause}
	out.set(x.spoken, status, grpc)
	x.Outcomes = append(x.Outcomes, out)
}

// set sets what the caller gets where no answer of the application has begun.
func (o *Outcome) set(protocol policy.Protocol, status int, grpc codes.Code) {
	switch protocol {
	case policy.TCP:
		o.End = exchange.Closed
	case policy.GRPC:
		o.Status, o.GRPC = 200, grpc
	default:
		o.Status = status
	}
}

// addOutcomes adds the end of a request at each inbound of a backend.
func (s Sidecar) addOutcomes(x *Expectation, p casefile.RoutedRequest, cluster string) error {
	endpoints := s.Endpoints[cluster]
	if len(endpoints) == 0 {
		out := Outcome{Cluster: cluster, Cause: routing.NoEndpoint}
		out.set(x.spoken, 503, codes.Unavailable)
		x.Outcomes = append(x.Outcomes, out)
		return nil
	}
	limits := x.Decision.Limits
	if c := s.Program.Cluster(cluster); c != nil {
		for bound := range routing.Bounds {
			if bound.Level() == routing.OfCluster && (bound != routing.Idle || x.Outbound.Protocol.Layer() == policy.L7) {
				limits[bound] = c.Limits[bound]
			}
		}
	}
	if err := s.followHeader(&limits, x.Outbound.Protocol, p); err != nil {
		return err
	}
	if x.clusters == nil {
		x.clusters = map[string]routing.Limits{}
	}
	x.clusters[cluster] = limits
	for _, e := range endpoints {
		out := Outcome{Cluster: cluster, Inbound: e.Inbound}
		line := timeline{limits: limits, protocol: x.Outbound.Protocol, request: p, reach: e.Reach}
		if e.Inbound != "" {
			decision, err := s.judged(x.Outbound, p, e.Inbound)
			if err != nil {
				return err
			}
			out.Verdict = decision
			if decision != nil && decision.Effect == policy.Deny {
				out.Cause = routing.Denied
				out.set(x.spoken, 403, codes.PermissionDenied)
				x.Outcomes = append(x.Outcomes, out)
				continue
			}
		}
		end, begun, err := line.run()
		if err != nil {
			return err
		}
		if end.time >= forever {
			return errors.New("nothing ends the request: no bound does, and the application does not")
		}
		out.take(end, line.endOf(end, begun), x.spoken, limits)
		x.Outcomes = append(x.Outcomes, out)
	}
	return nil
}

// followHeader takes the maximum duration of a stream from the caller's header, where the Envoy does so.
func (s Sidecar) followHeader(limits *routing.Limits, protocol policy.Protocol, p casefile.RoutedRequest) error {
	if protocol.Layer() == policy.L4 || s.inbounds.Envoy().Fixed(behavior.StreamDuration) {
		return nil
	}
	limit, ok, err := StreamDuration(p.Headers)
	if ok {
		limits[routing.MaxStream] = limit
	}
	return err
}

// StreamDuration returns the maxStreamDuration that an Envoy takes from the headers of a request where it
// follows them. It returns false where they change nothing.
func StreamDuration(headers []policy.Header) (routing.Limit, bool, error) {
	var lines []string
	for _, h := range headers {
		if strings.EqualFold(h.Name, behavior.StreamDurationHeader) {
			lines = append(lines, h.Value)
		}
	}
	if len(lines) == 0 {
		return routing.Limit{}, false, nil
	}
	// Envoy joins several lines, and takes the whole for a number or for nothing.
	value := strings.Join(lines, ",")
	ms, err := strconv.ParseUint(value, 10, 64)
	switch {
	case err == nil && ms <= uint64(forever/time.Millisecond):
		return routing.Limit{Time: time.Duration(ms) * time.Millisecond, Origin: "the header " + behavior.StreamDurationHeader}, true, nil
	case err == nil || strings.Trim(value, "+-0123456789 \t") == "":
		return routing.Limit{}, false, fmt.Errorf("the lab does not know what this Envoy makes of %s: %s: use digits, for an hour at most", behavior.StreamDurationHeader, value)
	}
	return routing.Limit{}, false, nil
}

// take makes an outcome of the end of a timeline.
func (o *Outcome) take(end moment, by progress, protocol policy.Protocol, limits routing.Limits) {
	o.Cause, o.Time = end.cause, end.time
	bound, ok := end.cause.Bound()
	if ok {
		o.Limit = limits[bound]
	}
	kept := ok && (bound == routing.MaxConnection || bound == routing.Idle && protocol != policy.TCP)
	switch {
	case end.cause == routing.Answered, kept:
		if protocol != policy.TCP {
			o.Status = 200
		}
	case by == answering:
		o.End = exchange.Cut
		if protocol != policy.TCP {
			o.Status = 200
		}
	case ok && by == requesting && bound != routing.Connection:
		// 504 is for a request that is complete.
		o.set(protocol, 408, codes.Unknown)
	case ok && bound != routing.Connection:
		o.set(protocol, 504, codes.Unavailable)
	default:
		o.set(protocol, 503, codes.Unavailable)
	}
}

// judged returns what the policies of an inbound say of a request, nil where they are not asked.
func (s Sidecar) judged(o routing.Outbound, p casefile.RoutedRequest, inbound string) (*policy.Verdict, error) {
	in := s.inbounds.Inbound(inbound)
	if in.Protocol.Layer() != o.Protocol.Layer() {
		return nil, fmt.Errorf("outbound %s is %s, and inbound %s behind it %s: the lab sends each to its own", o.Service, o.Protocol, inbound, in.Protocol)
	}
	q := cases.Request{
		From: s.caller, To: inbound, SourceIP: s.Address, Method: p.Method, Path: p.Path, Authority: cmp.Or(p.Authority, o.Name), Headers: p.Headers, GRPC: p.GRPC,
	}
	if o.Protocol.Layer() == policy.L4 {
		q.Authority = ""
	}
	switch x := verdict.Authorization.Expect(in, q).(type) {
	case verdict.Judged:
		if x.Decision.Effect == policy.NoRoute {
			return nil, fmt.Errorf("inbound %s has no route for the request: the lab does not follow that behind a sidecar", inbound)
		}
		if x.Decision != x.Second {
			return nil, fmt.Errorf("inbound %s: the oracle says %s, the plain evaluator %s: meshproof contradicts itself", inbound, x.Decision, x.Second)
		}
		return &x.Decision.Verdict, nil
	case verdict.Unjudged:
		return nil, nil
	case verdict.HandshakeFails:
		return nil, fmt.Errorf("inbound %s keeps the sidecar out, because %s: the lab does not follow that", inbound, x.Why)
	case verdict.Rejected:
		return nil, fmt.Errorf("inbound %s answers %d to the sidecar, because %w: the lab does not follow that", inbound, x.Status, x.Why)
	default:
		return nil, fmt.Errorf("inbound %s: nothing says what becomes of the request: the lab does not follow that", inbound)
	}
}

// backends are the inbounds of which one must take the request.
func (x Expectation) backends() []string {
	var out []string
	for _, o := range x.Outcomes {
		out = append(out, cmp.Or(o.Inbound, "none"))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// routeMeets reports whether a text of a case names a route: the identifier, the name of a rule's
// route, or "" for none.
func routeMeets(text, route string) bool {
	if text == "" || route == "" {
		return text == route
	}
	if text == route {
		return true
	}
	// An identifier has the name in front of the last parts, which alone may have underscores.
	parts := strings.SplitN(route, "_", 7)
	return len(parts) == 7 && (parts[5] == text || parts[5]+"/"+parts[6] == text)
}
