package routeverdict

import (
	"testing"

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
