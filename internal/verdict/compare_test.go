package verdict

import (
	"errors"
	"slices"
	"testing"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/casetest"
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
	refused := func(e *evidence.Evidence) {
		notFound("rbac_access_denied_matched_policy[" + friends + "]")(e)
		e.Answer.Status, e.Answer.Body, e.Log.Status = 403, "RBAC: access denied", 403
		e.Log.Enforced = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Deny, Origin: friends}}
	}
	denied := changed(func(x *Judged) { x.Decision.Effect, x.Second.Effect = policy.Deny, policy.Deny })
	onL4 := changed(func(x *Judged) {
		x.Decision.Effect, x.Second.Effect, x.Decision.Layer, x.Second.Layer = policy.Deny, policy.Deny, policy.L4, policy.L4
	})
	watched := changed(func(x *Judged) {
		x.Decision.Shadowed, x.Second.Shadowed, x.Decision.Shadow, x.Second.Shadow = true, true, byFriends, byFriends
	})
	shadow := func(effect policy.Effect, by string) func(*evidence.Evidence) {
		return func(e *evidence.Evidence) {
			e.Log.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: effect, Origin: by}}
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
		"filter by filter":           {shadowed, false, cases.Allow, func(e *evidence.Evidence) { e.Log.SetFilters([]xds.FilterLog{observed, enforced}) }, nil},
		"a gate twice":               {shadowed, false, cases.Allow, func(e *evidence.Evidence) { e.Log.SetFilters([]xds.FilterLog{observed, enforced, enforced}) }, []Kind{OtherFilters}},
		"no filter at all":           {asSpecified(), false, cases.Allow, func(e *evidence.Evidence) { e.Log.Enforced = xds.Engine{} }, []Kind{OtherDecision}},
		"a refusal":                  {denied, false, cases.Deny, refused, nil},
		"a refusal on another layer": {onL4, false, cases.Deny, refused, []Kind{OtherLayer}},
		"a refusal in the place of a status of the filter for tokens": {Rejected{403, errors.New("no token of its audience")}, false, cases.Refused, refused, []Kind{NotRejected}},
		"a status behind another decision": {denied, false, cases.Status(404), func(e *evidence.Evidence) {
			by := e.Log.Enforced
			notFound("via_upstream")(e)
			e.Log.Enforced = by
		}, []Kind{OtherDecision}},
		"a shadow":                           {watched, false, cases.Allow, shadow(policy.Allow, friends), nil},
		"a shadow too few":                   {watched, false, cases.Allow, nil, []Kind{OtherShadowRun}},
		"a shadow too many":                  {asSpecified(), false, cases.Allow, shadow(policy.Allow, friends), []Kind{OtherShadowRun}},
		"a shadow of another name":           {watched, false, cases.Allow, shadow(policy.Allow, "p"), []Kind{OtherShadow}},
		"a shadow of another name of any":    {watched, true, cases.Allow, shadow(policy.Allow, "p"), nil},
		"a shadow of another effect, by any": {watched, true, cases.Allow, shadow(policy.Deny, friends), []Kind{OtherShadow}},
		"a shadow twice":                     {shadowed, false, cases.Allow, func(e *evidence.Evidence) { e.Log.SetFilters([]xds.FilterLog{observed, observed, enforced}) }, []Kind{OtherShadows}},
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

// TestJudgeComparesEachStatement holds each thing that a case may state against evidence that says otherwise. With names of
// its own, a compiler is held against what the case states of decisions alone.
func TestJudgeComparesEachStatement(t *testing.T) {
	t.Parallel()
	other, none, deny := "p", cases.ShadowNone, cases.ShadowDeny
	e := allowed(t, "/")
	e.Log.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: friends}}
	for name, tt := range map[string]struct {
		stated          Stated
		named, anyNames []Kind
	}{
		"nothing":        {Stated{}, nil, nil},
		"want":           {Stated{Want: cases.Close}, []Kind{OtherWant}, []Kind{OtherWant}},
		"no shadow":      {Stated{Shadow: &none}, []Kind{OtherStatedShadow}, []Kind{OtherStatedShadow}},
		"another shadow": {Stated{Shadow: &deny}, []Kind{OtherStatedShadow}, []Kind{OtherStatedShadow}},
		"by":             {Stated{By: &other}, []Kind{OtherStatedBy}, nil},
		"shadow by":      {Stated{ShadowBy: &other}, []Kind{OtherStatedShadowBy}, nil},
	} {
		for _, anyNames := range []bool{false, true} {
			want := tt.named
			if tt.stated.AnyNames = anyNames; anyNames {
				want = tt.anyNames
			}
			if tt.stated.Want == (cases.Want{}) {
				tt.stated.Want = cases.Allow
			}
			var kinds []Kind
			for _, p := range Judge(Unknown{}, tt.stated, e).Problems {
				kinds = append(kinds, p.Kind)
			}
			if !slices.Equal(kinds, want) {
				t.Errorf("%s, any names %t: the kinds %d, want %d", name, anyNames, kinds, want)
			}
		}
	}
}

// TestTwoReadingsOfAPath bends the first reading of a path: the second one has to tell.
func TestTwoReadingsOfAPath(t *testing.T) {
	t.Parallel()
	r, err := Read(casetest.Parse(t, head+"requests: [{from: "+frontend+", to: backend/http-port, path: /a, want: allow}]"))
	if err != nil {
		t.Fatal(err)
	}
	q := r.Case.Requests[0]
	for name, tt := range map[string]struct {
		inbound, path string
		rejected      error
		disputed      bool
	}{
		"alike":                 {"backend/http-port", "/a", nil, false},
		"another path":          {"backend/http-port", "/b", nil, true},
		"refused by the first":  {"backend/http-port", "/a", errors.New("400"), true},
		"a port without a path": {"backend/tcp-port", "", nil, false},
	} {
		plain, disputed := r.Inbound(tt.inbound).plainlySeen(q, policy.Request{Path: tt.path}, tt.rejected)
		if (disputed != nil) != tt.disputed || !tt.disputed && plain.Path != tt.path {
			t.Errorf("%s: %q, %+v", name, plain.Path, disputed)
		}
	}
}
