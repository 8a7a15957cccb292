package routeverdict

import (
	"net/http"
	"net/netip"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

var (
	allowed = policy.Verdict{Effect: policy.Allow, Origin: "friends"}
	refused = policy.Verdict{Origin: "default"}
)

// answered and ended are what must become of a request that is answered, and of one that its route's
// bound of 200 ms ends.
func answered() Expectation {
	d := routing.Decision{Route: "r", Backends: []routing.Backend{{Cluster: "c", Weight: 1}}}
	d.Limits[routing.Request].Time = 200 * ms
	return Expectation{
		Outbound: routing.Outbound{Name: "o", Protocol: policy.HTTP}, Decision: d, Second: d,
		Outcomes: []Outcome{{Cluster: "c", Inbound: "shop", Status: 200, Verdict: &allowed}},
	}
}

func ended() Expectation {
	x := answered()
	x.Outcomes[0] = Outcome{Cluster: "c", Inbound: "shop", Cause: routing.Bounded(routing.Request), Limit: x.Decision.Limits[routing.Request], Time: 200 * ms, Status: 504, Verdict: &allowed}
	return x
}

// served and timedOut are the evidence of both.
func served() exchange.Evidence {
	source, address := netip.MustParseAddrPort("10.0.0.1:1024"), netip.MustParseAddrPort("10.0.0.7:80")
	log := xds.AccessLog{Request: true, Caller: source, Destination: address, PeerURIs: []string{"spiffe://td/web"}, Status: 200, Details: "via_upstream"}
	log.Enforced = xds.Engine{Ran: true, Verdict: allowed}
	return exchange.Evidence{
		Identity: "spiffe://td/web", Answer: exchange.Answer{Status: 200},
		Outbound: outboundlog.Entry{
			Caller: source, Route: "r", Cluster: "c", Endpoint: "shop", Peer: []string{"spiffe://td/shop"}, Status: 200, Details: "via_upstream", Attempts: 1, Forwarded: 90, Duration: 5 * ms,
		},
		Inbound:   &exchange.Inbound{Name: "shop", Identity: "spiffe://td/shop", Address: address, Log: log},
		Arrival:   &arrival.Record{Requests: 1, Header: http.Header{"X-Forwarded-Client-Cert": {"URI=spiffe://td/web"}}},
		Endpoints: []string{"shop", "store"},
	}
}

func timedOut() exchange.Evidence {
	e := served()
	e.Answer.Status, e.Outbound.Status, e.Outbound.Details, e.Outbound.Flags, e.Outbound.Duration = 504, 504, "response_timeout", []string{"UT"}, 201*ms
	e.Inbound.Log.Status, e.Inbound.Log.Details = 0, "downstream_remote_disconnect"
	e.Counts = &exchange.Counts{routing.Request: 1}
	e.Arrival.Timing = &arrival.Timing{Cut: 200 * ms}
	return e
}

// TestJudge forges each field of the evidence, one at a time. Each forgery is found, as what it is.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, judged := range map[string]Judgement{"served": Judge(answered(), casefile.RoutedRequest{}, served()), "timed out": Judge(ended(), casefile.RoutedRequest{}, timedOut())} {
		if len(judged.Problems) > 0 || judged.Delay != "" || judged.Mistimed {
			t.Fatalf("%s: %+v", name, judged)
		}
	}
	other := func(e *exchange.Evidence) {
		e.Outbound.Endpoint, e.Outbound.Peer, e.Inbound.Name, e.Inbound.Identity = "store", []string{"spiffe://td/store"}, "store", "spiffe://td/store"
	}
	for name, tt := range map[string]struct {
		want     verdict.Kind
		x        Expectation
		evidence exchange.Evidence
		forge    func(*exchange.Evidence)
		repeat   bool
	}{
		"another route":                        {verdict.OtherRoute, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Route = "s" }, false},
		"no route":                             {verdict.OtherRoute, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Route = "" }, false},
		"another cluster":                      {verdict.OtherBackend, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Cluster = "d" }, false},
		"another backend, all sides say so":    {verdict.OtherBackend, answered(), served(), other, false},
		"another endpoint in one log":          {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Endpoint = "store" }, false},
		"another certificate of the backend":   {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Peer = []string{"spiffe://td/store"} }, false},
		"another certificate of the sender":    {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Inbound.Log.PeerURIs = []string{"spiffe://td/evil"} }, false},
		"no inbound":                           {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Inbound = nil }, false},
		"no arrival":                           {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Arrival = nil }, false},
		"two arrivals":                         {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Arrival.Requests = 2 }, false},
		"two attempts":                         {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Attempts = 2 }, false},
		"another status at the caller":         {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Answer.Status = 500 }, false},
		"another status on both sides":         {verdict.OtherEnd, answered(), served(), func(e *exchange.Evidence) { e.Answer.Status, e.Outbound.Status = 500, 500 }, false},
		"a cut answer":                         {verdict.OtherEnd, answered(), served(), func(e *exchange.Evidence) { e.Answer.End = exchange.Cut }, false},
		"another reason":                       {verdict.OtherCause, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Details = "upstream_reset_after_response_started{x}" }, false},
		"a reason that is unknown":             {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Outbound.Details = "moonlight" }, false},
		"another policy":                       {verdict.OtherDecision, answered(), served(), func(e *exchange.Evidence) { e.Inbound.Log.Enforced.Verdict.Origin = "others" }, false},
		"a policy that refuses, and is served": {verdict.Contradiction, answered(), served(), func(e *exchange.Evidence) { e.Inbound.Log.Enforced.Verdict = refused }, false},
		"another policy, and the bound":        {verdict.OtherDecision, ended(), timedOut(), func(e *exchange.Evidence) { e.Inbound.Log.Enforced.Verdict.Origin, e.Arrival.Timing = "others", nil }, false},
		"served instead of refused, and bound": {verdict.OtherCause, func() Expectation {
			x := answered()
			x.Outcomes[0].Cause, x.Outcomes[0].Status, x.Outcomes[0].Verdict = routing.Denied, 403, &refused
			return x
		}(), timedOut(), func(e *exchange.Evidence) { e.Arrival.Timing = nil }, false},
		"no filter that judges":           {verdict.OtherDecision, answered(), served(), func(e *exchange.Evidence) { e.Inbound.Log.Enforced = xds.Engine{} }, false},
		"a status of gRPC":                {verdict.OtherEnd, answered(), served(), func(e *exchange.Evidence) { e.Answer.GRPC = codes.Unavailable }, false},
		"the bound did not end it":        {verdict.OtherCause, ended(), served(), func(*exchange.Evidence) {}, true},
		"the bound ended another request": {verdict.OtherCause, func() Expectation { x := answered(); x.Outcomes[0].Time = 50 * ms; return x }(), timedOut(), func(*exchange.Evidence) {}, false},
		"the bound was early":             {verdict.TooEarly, ended(), timedOut(), func(e *exchange.Evidence) { e.Outbound.Duration = 150 * ms }, true},
		"the bound was early, in the request": {verdict.OtherEnd, ended(), timedOut(), func(e *exchange.Evidence) {
			e.Answer.Status, e.Outbound.Status, e.Outbound.Duration = 408, 408, 12*ms
		}, true},
		"the bound ended it in the request": {verdict.OtherEnd, ended(), timedOut(), func(e *exchange.Evidence) {
			e.Answer.Status, e.Outbound.Status = 408, 408
		}, false},
		"the sentinel ended it":      {verdict.OtherCause, ended(), timedOut(), func(e *exchange.Evidence) { e.Outbound.Details, e.Outbound.Flags = "max_duration_timeout", nil }, true},
		"no flag of the bound":       {verdict.Contradiction, ended(), timedOut(), func(e *exchange.Evidence) { e.Outbound.Flags = nil }, false},
		"no counter of the bound":    {verdict.Contradiction, ended(), timedOut(), func(e *exchange.Evidence) { e.Counts[routing.Request] = 0 }, false},
		"a counter that moved twice": {verdict.Contradiction, ended(), timedOut(), func(e *exchange.Evidence) { e.Counts[routing.Request] = 2 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.forge(&tt.evidence)
			j := Judge(tt.x, casefile.RoutedRequest{}, tt.evidence)
			if !slices.ContainsFunc(j.Problems, func(p verdict.Problem) bool { return p.Kind == tt.want }) || j.Mistimed != tt.repeat || j.Delay != "" {
				t.Errorf("problems %v, late %q, mistimed %t", j.Problems, j.Delay, j.Mistimed)
			}
		})
	}
}

// A route with a backend that does not exist sends a share of its requests nowhere. Such a request is held against
// that share, and no other one is.
func TestJudgeShareWithoutBackend(t *testing.T) {
	t.Parallel()
	nowhere := func() exchange.Evidence {
		e := served()
		e.Answer.Status, e.Inbound, e.Arrival = 500, nil, nil
		e.Outbound = outboundlog.Entry{Caller: e.Outbound.Caller, Route: "r", Status: 500, Details: "cluster_not_found", Flags: []string{"NC"}}
		return e
	}
	half := answered()
	half.Outcomes = append(half.Outcomes, Outcome{Cause: routing.NoBackend, Status: 500})
	for name, tt := range map[string]struct {
		x    Expectation
		e    exchange.Evidence
		want []verdict.Kind
	}{
		"the share of the backend": {half, served(), nil},
		"the other share":          {half, nowhere(), nil},
		"no such share":            {answered(), nowhere(), []verdict.Kind{verdict.OtherCause}},
	} {
		var got []verdict.Kind
		for _, p := range Judge(tt.x, casefile.RoutedRequest{}, tt.e).Problems {
			got = append(got, p.Kind)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestJudgeStated holds each thing that a case may state against evidence that is sound.
func TestJudgeStated(t *testing.T) {
	t.Parallel()
	route, by, cause := "s", "others", routing.Broken
	for name, tt := range map[string]struct {
		want  verdict.Kind
		state casefile.RoutedRequest
	}{
		"want":    {verdict.OtherWant, casefile.RoutedRequest{Want: "404"}},
		"route":   {verdict.OtherStatedRoute, casefile.RoutedRequest{Route: &route}},
		"backend": {verdict.OtherStatedBackend, casefile.RoutedRequest{Backends: []string{"store"}}},
		"cause":   {verdict.OtherStatedCause, casefile.RoutedRequest{Cause: &cause}},
		"by":      {verdict.OtherStatedBy, casefile.RoutedRequest{By: &by}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if j := Judge(answered(), tt.state, served()); len(j.Problems) != 1 || j.Problems[0].Kind != tt.want || j.Delay != "" {
				t.Errorf("problems %v, late %q", j.Problems, j.Delay)
			}
		})
	}
}

// TestJudgeHoldsTheOpinionsAgainstEachOther changes one part of what the plain evaluator says.
func TestJudgeHoldsTheOpinionsAgainstEachOther(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*routing.Decision){
		"route":    func(d *routing.Decision) { d.Route = "s" },
		"backend":  func(d *routing.Decision) { d.Backends = []routing.Backend{{Cluster: "d", Weight: 1}} },
		"share":    func(d *routing.Decision) { d.Backends = []routing.Backend{{Cluster: "c", Weight: 2}} },
		"no share": func(d *routing.Decision) { d.Backends = nil },
		"limit":    func(d *routing.Decision) { d.Limits[routing.Request].Time = time.Hour },
	} {
		x := answered()
		x.Decision.Backends = []routing.Backend{{Cluster: "c", Weight: 1}}
		x.Second = x.Decision
		if j := Judge(x, casefile.RoutedRequest{}, served()); len(j.Problems) > 0 {
			t.Fatalf("alike: %v", j.Problems)
		}
		change(&x.Second)
		if j := Judge(x, casefile.RoutedRequest{}, served()); len(j.Problems) != 1 || j.Problems[0].Kind != verdict.OtherOpinion {
			t.Errorf("another %s: %v", name, j.Problems)
		}
	}
}
