package verdict

import (
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// TestJudgeComparesEachPart changes one part of an expectation or of the evidence, which is sound. Each
// part has a problem of its own, so that none of the comparisons can be left out.
func TestJudgeComparesEachPart(t *testing.T) {
	t.Parallel()
	byFriends := policy.Verdict{Effect: policy.Allow, Origin: friends}
	gate := func(name string, shadow bool, v policy.Verdict) policy.Trace {
		return policy.Trace{Gate: policy.Gate{Layer: policy.L7, Name: name}, Shadow: shadow, Verdict: v}
	}
	observed := xds.FilterLog{FilterPlace: xds.FilterPlace{Layer: policy.L7}, ShadowName: "watch", Shadow: xds.Engine{Ran: true, Verdict: byFriends}}
	enforced := xds.FilterLog{FilterPlace: xds.FilterPlace{Layer: policy.L7}, Enforced: xds.Engine{Ran: true, Verdict: byFriends}}
	// asSpecified is what must become of the request of the evidence.
	asSpecified := func() Judged {
		d := policy.Decision{Verdict: byFriends, Layer: policy.L7}
		return Judged{Seen: policy.Request{Path: "/"}, Decision: d, Second: d}
	}
	changed := func(change func(*Judged)) Expectation {
		x := asSpecified()
		change(&x)
		return x
	}
	notFound := func(details string) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) {
			e.Answer, e.Arrival = caller.Answer{Outcome: caller.Answered, Status: 404}, nil
			e.Log = xds.AccessLog{Request: true, Status: 404, Path: "/", PeerURIs: []string{frontend}, Details: details}
		}
	}
	noRoute := changed(func(x *Judged) {
		x.Decision.Verdict, x.Second.Verdict = policy.Verdict{Effect: policy.NoRoute}, policy.Verdict{Effect: policy.NoRoute}
	})
	shadowed := changed(func(x *Judged) {
		x.Decision.Shadowed, x.Second.Shadowed, x.Decision.Shadow, x.Second.Shadow = true, true, byFriends, byFriends
		x.Gates = []policy.Trace{gate("", false, byFriends), gate("watch", true, byFriends)}
	})
	for name, tt := range map[string]struct {
		expected Expectation
		anyNames bool
		want     cases.Want
		bend     func(*evidence.Evidence)
		problems []Kind
	}{
		"as specified":            {asSpecified(), false, cases.Allow, nil, nil},
		"two readings":            {Disputed{"/a", "/b"}, false, cases.Allow, nil, []Kind{OtherOpinion}},
		"an authorizer too few":   {changed(func(x *Judged) { x.Asked = true }), false, cases.Allow, nil, []Kind{OtherAsked}},
		"an authorizer too many":  {asSpecified(), false, cases.Allow, func(e *evidence.Evidence) { e.Log.Filters = []xds.FilterLog{{Asked: true}} }, []Kind{OtherAsked}},
		"another name":            {changed(func(x *Judged) { x.Decision.Origin, x.Second.Origin = "p", "p" }), false, cases.Allow, nil, []Kind{OtherDecision}},
		"another name of any":     {changed(func(x *Judged) { x.Decision.Origin, x.Second.Origin = "p", "p" }), true, cases.Allow, nil, nil},
		"another effect, by any":  {changed(func(x *Judged) { x.Decision.Effect, x.Second.Effect = policy.Deny, policy.Deny }), true, cases.Allow, nil, []Kind{OtherDecision}},
		"no filter, and one":      {changed(func(x *Judged) { x.Ungated = true }), false, cases.Allow, nil, []Kind{OtherDecision}},
		"no filter":               {changed(func(x *Judged) { x.Ungated = true }), false, cases.Allow, func(e *evidence.Evidence) { e.Log.Enforced = xds.Engine{} }, nil},
		"no route":                {noRoute, false, cases.Status(404), notFound("route_not_found"), nil},
		"a 404 of something else": {noRoute, false, cases.Status(404), notFound("via_upstream"), []Kind{OtherDecision}},
		"a 403 that is no refusal": {Unknown{}, false, cases.Status(403), func(e *evidence.Evidence) {
			notFound("direct_response")(e)
			e.Answer.Status, e.Log.Status = 403, 403
		}, []Kind{OtherWant}},
		"filter by filter": {shadowed, false, cases.Allow, func(e *evidence.Evidence) { e.Log.SetFilters([]xds.FilterLog{observed, enforced}) }, nil},
		"a gate twice":     {shadowed, false, cases.Allow, func(e *evidence.Evidence) { e.Log.SetFilters([]xds.FilterLog{observed, enforced, enforced}) }, []Kind{OtherFilters}},
		"a shadow twice":   {shadowed, false, cases.Allow, func(e *evidence.Evidence) { e.Log.SetFilters([]xds.FilterLog{observed, observed, enforced}) }, []Kind{OtherShadows}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := allowed(t, "/")
			if tt.bend != nil {
				tt.bend(&e)
			}
			got := Judge(tt.expected, Stated{Want: tt.want, AnyNames: tt.anyNames}, e)
			var kinds []Kind
			for _, p := range got.Problems {
				kinds = append(kinds, p.Kind)
			}
			if !slices.Equal(kinds, tt.problems) {
				t.Errorf("problems %q, want the kinds %d", got.ProblemTexts(), tt.problems)
			}
		})
	}
}
