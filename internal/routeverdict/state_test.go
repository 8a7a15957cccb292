package routeverdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// What an expectation states of a request of a story agrees with what the story states, on all releases.
func TestStateAgreesWithStories(t *testing.T) {
	t.Parallel()
	stated := 0
	for _, c := range casetest.Stories(t) {
		if len(c.RoutedRequests) == 0 || len(c.Gate.Behaves) > 0 {
			continue
		}
		reading, err := verdict.Read(c)
		if err != nil {
			continue
		}
		all, err := Read(reading)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, own := range c.RoutedRequests {
			r, ok := all.Expected[i].State(own)
			if !ok {
				continue
			}
			stated++
			_, err := casefile.EndOf(string(r.Want))
			switch tcp := all.Expected[i].Outbound.Protocol == policy.TCP; {
			case err != nil:
				t.Errorf("%s: %v", own.Place, err)
			case r.Want != own.Want && own.Want != casefile.Allow && !(tcp && own.Want == casefile.Close):
				t.Errorf("%s: wants %s, the expectation states %s", own.Place, own.Want, r.Want)
			case own.Cause != nil && *own.Cause != *r.Cause:
				t.Errorf("%s: cause %s, the expectation states %s", own.Place, own.Cause, r.Cause)
			}
		}
	}
	if stated < 100 {
		t.Errorf("%d requests", stated)
	}
}

// A time by which a bound must have ended a request is refused where no bound ends it: nothing would hold it.
func TestWithinNeedsABound(t *testing.T) {
	t.Parallel()
	for _, c := range casetest.Stories(t) {
		if c.Name != "a request timeout ends a request without an answer" {
			continue
		}
		c.RoutedRequests = slices.Clone(c.RoutedRequests)
		for i := range c.RoutedRequests {
			c.RoutedRequests[i].Within = 10 * time.Second
		}
		reading, err := verdict.Read(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(reading); err == nil || !strings.Contains(err.Error(), "none ends this one") {
			t.Errorf("one of its requests is answered: %v", err)
		}
		return
	}
	t.Error("there is no such case")
}

// What the backends of a request end differently cannot be stated.
func TestStateOfSeveralEnds(t *testing.T) {
	t.Parallel()
	x := Expectation{Outcomes: []Outcome{{Inbound: "a/1", Status: 200}, {Inbound: "b/1", Status: 200}}}
	if r, ok := x.State(casefile.RoutedRequest{}); !ok || len(r.Backends) != 2 || r.Want != "200" {
		t.Errorf("two backends: %+v", r)
	}
	x.Outcomes[1] = Outcome{Inbound: "b/1", Status: 403, Cause: routing.Denied}
	if r, ok := x.State(casefile.RoutedRequest{}); ok {
		t.Errorf("two ends: %+v", r)
	}
	refused := Outcome{Status: 200, GRPC: codes.PermissionDenied, End: exchange.Complete}
	if got := refused.stated(policy.GRPC); got != "PERMISSION_DENIED" {
		t.Error(got)
	}
}

// A case that states the end at one of several backends would pass by chance.
func TestDividedStatements(t *testing.T) {
	t.Parallel()
	denied, answered := routing.Denied, routing.Answered
	allow, deny := policy.Verdict{Effect: policy.Allow, Origin: "p"}, policy.Verdict{Origin: "q"}
	by := "p"
	alike := []Outcome{{Inbound: "a/1", Status: 200, Verdict: &allow}, {Inbound: "b/1", Status: 200, Verdict: &allow}}
	otherwise := []Outcome{{Inbound: "a/1", Status: 200, Cause: answered, Verdict: &allow}, {Inbound: "b/1", Status: 403, Cause: denied, Verdict: &deny}}
	for name, tt := range map[string]struct {
		outcomes []Outcome
		stated   casefile.RoutedRequest
		want     string
	}{
		"alike":                       {alike, casefile.RoutedRequest{Want: "200", By: &by, Cause: &answered, Backends: []string{"b/1", "a/1"}}, ""},
		"one of two backends":         {alike, casefile.RoutedRequest{Want: "200", Backends: []string{"b/1"}}, "the case states the backend b/1, and the request may take a/1 too: state each of them"},
		"another backend than any":    {alike, casefile.RoutedRequest{Backends: []string{"c/1"}}, ""},
		"no end is stated":            {otherwise, casefile.RoutedRequest{}, ""},
		"one of two ends":             {otherwise, casefile.RoutedRequest{Want: "403"}, "the request may take a/1 or b/1, which end it differently"},
		"one of two causes":           {otherwise, casefile.RoutedRequest{Cause: &denied}, "which end it differently"},
		"one of two deciding names":   {otherwise, casefile.RoutedRequest{By: &by}, "which end it differently"},
		"a share that nothing is for": {append(alike, Outcome{Status: 500}), casefile.RoutedRequest{Want: "200"}, "a backend without an inbound"},
		"no outcome":                  {nil, casefile.RoutedRequest{Want: "200"}, ""},
	} {
		err := Expectation{Outcomes: tt.outcomes}.divided(tt.stated)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// An inbound that answers the sidecar by itself, or takes no connection from it, is refused with the reason.
func TestInboundsThatKeepTheSidecarOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ inbound, path, want string }{
		"a path that is refused": {"", "/a%2Fb", "inbound backend/main answers 400 to the sidecar, because "},
		"plaintext alone":        {", mtls: disable", "/", "inbound backend/main keeps the sidecar out, because the inbound takes plaintext only"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := casetest.Parse(t, `case: c
workloads: [{name: web}, {name: backend, labels: {app: backend}, inbounds: [{name: main, port: 8080, protocol: http`+tt.inbound+`}]}]
outbounds: [{type: MeshService, name: backend, spec: {selector: {dataplaneTags: {app: backend}}, ports: [{port: 80, targetPort: 8080, appProtocol: http}]}}]
policies: [{type: MeshTrafficPermission, name: all, spec: {default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://trust-domain.mesh/'}}]}}}]
requests: [{from: web, to: 'MeshService/backend:80', path: '`+tt.path+`', want: 200}]
`)
			reading, err := verdict.Read(c)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Read(reading); err == nil || !strings.Contains(err.Error(), tt.want) || strings.ContainsAny(err.Error(), "{}") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
