package evidence

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

const other = "spiffe://trust-domain.mesh/ns/default/sa/other"

func stray(e *Evidence)      { e.Arrival = &arrival.Record{Requests: 1} }
func unjudged(e *Evidence)   { e.Log.Enforced.Ran = false }
func pretended(e *Evidence)  { e.Log.Enforced.Verdict.Effect = policy.Allow }
func mistaken(e *Evidence)   { e.Log.PeerURIs = []string{other} }
func overturned(e *Evidence) { e.Log.Enforced.Verdict.Effect = policy.Deny }

// Each row changes one side of sound evidence, and the problem names exactly that side.
// There is a row for every side that Find reads.
var bent = []struct {
	sound string
	bend  func(*Evidence)
	form  Form
	sides []string
}{
	{"handshake failed", func(e *Evidence) { e.Answer = caller.Answer{Outcome: caller.Answered, Status: 200} }, HandshakeFailed,
		[]string{"the caller got an answer: HTTP 200"}},
	{"handshake failed", stray, HandshakeFailed, []string{"the upstream saw a request"}},
	{"handshake failed", func(e *Evidence) { e.Log.Enforced = allowed("friends") }, HandshakeFailed,
		[]string{"the access log says that a policy judged it: allow by friends"}},

	{"closed", func(e *Evidence) { e.Answer.Outcome = caller.Alert }, Refused, []string{"the caller saw a TLS alert"}},
	{"closed", stray, Refused, []string{"the upstream saw bytes of the caller"}},
	{"closed", unjudged, Refused, []string{"the access log has no result of an RBAC engine"}},
	{"closed", pretended, Refused, []string{"the access log says allow by a\tb\n[c]"}},
	{"closed", func(e *Evidence) { e.Log.Termination = "" }, Refused,
		[]string{`the access log gives the reason "", not "rbac_access_denied_matched_policy[a_b_[c]]"`}},
	{"closed", mistaken, Refused, []string{`the access log names the peer ["` + other + `"], the caller is ["` + frontend + `"]`}},

	{"refused http", func(e *Evidence) { e.Answer.Status = 401 }, Refused, []string{"the caller got HTTP 401, not 403"}},
	{"refused http", func(e *Evidence) { e.Answer.Body = "go away" }, Refused, []string{`the caller got "go away", not "RBAC: access denied"`}},
	{"refused http", stray, Refused, []string{"the upstream saw the request"}},
	{"refused http", unjudged, Refused, []string{"the access log has no result of an RBAC engine"}},
	{"refused http", pretended, Refused, []string{"the access log says allow by no one"}},
	{"refused http", func(e *Evidence) { e.Log.Enforced.Verdict.Origin = "none" }, Refused,
		[]string{`the access log gives the reason "rbac_access_denied_matched_policy[no_one]", not "rbac_access_denied_matched_policy[none]"`}},
	{"refused http", func(e *Evidence) { e.Log.Details = "via_upstream" }, Refused,
		[]string{`the access log gives the reason "via_upstream", not "rbac_access_denied_matched_policy[no_one]"`}},
	{"refused http", mistaken, Refused, []string{`the access log names the peer ["` + other + `"], the caller is ["` + frontend + `"]`}},
	{"refused head", func(e *Evidence) { e.Answer.Status = 404 }, Refused, []string{"the caller got HTTP 404, not 403"}},
	{"refused grpc", func(e *Evidence) { e.Answer.GRPC = codes.Unavailable }, Refused,
		[]string{"the caller got gRPC Unavailable, not PERMISSION_DENIED"}},

	{"rejected", func(e *Evidence) { e.Answer.Status, e.Log.Status = 200, 200 }, Rejected,
		[]string{"the caller got HTTP 200, but the upstream saw nothing"}},
	{"rejected", func(e *Evidence) { e.Log.Status = 503 }, Rejected, []string{"the access log says status 503, the caller got 400"}},
	{"served http", func(e *Evidence) { e.Arrival = nil }, Rejected, []string{"the caller got HTTP 200, but the upstream saw nothing"}},

	{"served grpc", func(e *Evidence) { e.Answer.GRPC = codes.Internal }, Served, []string{"the caller got gRPC Internal"}},
	{"served http", overturned, Served, []string{"the access log says deny by friends"}},
	{"served tcp", overturned, Served, []string{"the access log says deny by friends"}},
	{"served tcp", func(e *Evidence) { e.Arrival = nil }, Served, []string{"the upstream saw nothing"}},
	{"served tcp", func(e *Evidence) { e.Arrival.Requests = 2 }, Served, []string{"the upstream saw 2 requests"}},
	{"served tcp", func(e *Evidence) { e.Arrival.Bytes = 3 }, Served, []string{"the upstream saw 3 bytes, the caller sent 10"}},
	{"served tcp", mistaken, Served, []string{`the access log names the peer ["` + other + `"], the caller is ["` + frontend + `"]`}},
	{"served http", func(e *Evidence) { e.Arrival.Requests = 2 }, Served, []string{"the upstream saw 2 requests"}},
	{"served http", func(e *Evidence) { e.Answer.Status, e.Log.Status = 503, 503 }, Served, []string{"the caller got HTTP 503"}},
	{"served http", func(e *Evidence) { e.Log.Status = 503 }, Served, []string{"the access log says status 503, the caller got 200"}},
	{"served http", func(e *Evidence) { e.Arrival.Authority = "evil" }, Served, []string{`the upstream saw authority "evil", the caller sent "backend"`}},
	{"served http", func(e *Evidence) { e.Arrival.Header["X-A"] = []string{"1"} }, Served, []string{`the upstream saw "1" in the header x-a, the caller sent ["1" "2"]`}},
	{"served http", func(e *Evidence) { e.Arrival.Bytes = 4 }, Served, []string{"the upstream saw 4 bytes, the caller sent 5"}},
	{"served http", func(e *Evidence) { e.Answer.Body = "HELLO" }, Served, []string{"the caller got 5 bytes back that are not those it sent"}},
	{"served tcp", func(e *Evidence) { e.Answer.Body = "MESHPROOF\n" }, Served, []string{"the caller got 10 bytes back that are not those it sent"}},
	{"served tcp", func(e *Evidence) { e.Log.Destination = netip.MustParseAddrPort("10.0.0.9:1") }, Served,
		[]string{"the access log names the destination 10.0.0.9:1, the caller played invalid AddrPort"}},
	{"served http", func(e *Evidence) { e.Arrival.Method = "PUT" }, Served, []string{"the upstream saw method PUT, the caller sent GET"}},
	{"served grpc", func(e *Evidence) { e.Arrival.Method = "GET" }, Served, []string{"the upstream saw method GET, the caller sent POST"}},
	{"served plaintext", func(e *Evidence) { e.Arrival.Method = "GET" }, Served, []string{"the upstream saw method GET, the caller sent PUT"}},
	{"served http", func(e *Evidence) { e.Arrival.Path, e.Log.Path = "/a?\xff", "/a?x" }, Served, []string{`the upstream saw path "/a?\xff", the access log "/a?x"`}},
	{"served http", func(e *Evidence) { e.Log.Path = "/a//b?c" }, Served, []string{`the upstream saw path "/a/b?c", the access log "/a//b?c"`}},
	{"served http", func(e *Evidence) { e.Arrival.Header.Set("X-Forwarded-Client-Cert", "URI="+other) }, Served,
		[]string{`XFCC names "` + other + `", the caller is "` + frontend + `"`}},
	{"served http", mistaken, Served, []string{`the access log names the peer ["` + other + `"], the caller is ["` + frontend + `"]`}},
	// A plaintext caller has no identity, even if the evidence names one.
	{"served plaintext", mistaken, Served, []string{`the access log names the peer ["` + other + `"], the caller is []`}},
	{"served plaintext", func(e *Evidence) { e.Arrival.Header = xfcc(clientCert) }, Served,
		[]string{`XFCC names "` + frontend + `", the caller is ""`}},

	{"refused shared", func(e *Evidence) { e.Log.Method = "POST" }, Refused, []string{"the access log has the method POST in its place, the caller sent GET"}},
	{"refused shared", func(e *Evidence) { e.Log.Path = "/a//b?c" }, Refused,
		[]string{`the access log has the path "/a//b?c" in its place, the caller's means "/a/b?c"`}},
	{"refused shared", func(e *Evidence) { e.Log.Path = "" }, Refused, []string{`the access log has the path "" in its place, the caller's means "/a/b?c"`}},
	{"refused shared", func(e *Evidence) { e.Log.Status = 200 }, Refused, []string{"the access log says status 200, the caller got 403"}},
	{"unknown method shared", func(e *Evidence) { e.Log.Method = "GET" }, Refused, []string{"the access log has the method GET in its place, the caller sent FOO"}},
	{"rejected shared", func(e *Evidence) { e.Log.Method, e.Log.Path = "GET", "/x" }, Rejected, []string{
		"the access log has the method GET in its place, the caller sent get", `the access log has the path "/x" in its place, the caller's means "/"`,
	}},

	{"served by name", func(e *Evidence) { e.Log.SNI = "other.example" }, Served,
		[]string{`the access log has the server name "other.example", the caller sent "shop.example"`}},
	{"served by name", func(e *Evidence) { e.ReadsSNI = false }, Served, []string{`the access log has the server name "shop.example", the caller sent ""`}},
	{"served with a token", func(e *Evidence) { e.Log.Claims["sub"] = "bob" }, Served,
		[]string{"the access log has the claims map[iss:a sub:bob], the caller sent map[iss:a sub:alice]"}},
	{"served with a token", func(e *Evidence) { e.Log.Claims = nil }, Served, []string{"the access log has the claims map[], the caller sent map[iss:a sub:alice]"}},
	{"refused http", func(e *Evidence) { e.Log.Claims = map[string]any{"sub": "bob"} }, Refused, []string{"the access log has the claims map[sub:bob], the caller sent map[]"}},

	{"refused http", func(e *Evidence) {
		with := sound["served with a token"].evidence(nil)
		e.Tokens, e.Call.Headers = with.Tokens, with.Call.Headers
	}, Refused, []string{"the access log has the claims map[], the caller sent map[iss:a sub:alice]"}},
	{"served http", func(e *Evidence) { e.Headers = []string{"x-a"} }, Served,
		[]string{`the access log has "" in the header x-a (present: false), the caller sent "1,2" (present: true)`}},

	{"refused by an authorizer", func(e *Evidence) { e.Asked.Authorizer = 2 }, Refused,
		[]string{"the access log says that an authorizer was asked 1 times, and it was asked 2 times"}},
	{"refused by an authorizer", func(e *Evidence) { e.Answer.Body = "no" }, Refused, []string{`the caller got "no", and an authorizer of the lab says nothing`}},
	{"refused by an authorizer", stray, Refused, []string{"the upstream saw the request"}},
	{"refused by an authorizer", func(e *Evidence) { e.Log.Details = "via_upstream" }, Refused, []string{`the access log gives the reason "via_upstream", and no authorizer`}},
	{"refused by an authorizer", func(e *Evidence) { e.Log.Status = 403 }, Refused, []string{"the access log says status 403, the caller got 401"}},
	{"refused by an authorizer", mistaken, Refused, []string{`the access log names the peer ["` + other + `"], the caller is ["` + frontend + `"]`}},
	{"closed by an authorizer", mistaken, Refused, []string{`the access log names the peer ["` + other + `"], the caller is ["` + frontend + `"]`}},

	// If several sides contradict, the problem names each of them.
	{"served tcp", func(e *Evidence) { e.Arrival.Requests, e.Arrival.Bytes = 2, 20 }, Served,
		[]string{"the upstream saw 2 requests", "the upstream saw 20 bytes, the caller sent 10"}},
	// A 403 of the upstream is no refusal. Envoy's words are a refusal, also from the upstream.
	{"served http", func(e *Evidence) { e.Answer.Status, e.Log.Status = 403, 403 }, Served, []string{"the caller got HTTP 403"}},
	{"served http", func(e *Evidence) { e.Answer.Body = refusalBody }, Refused, []string{
		"the caller got HTTP 200, not 403", "the upstream saw the request", "the access log says allow by friends",
		`the access log gives the reason "", not "rbac_access_denied_matched_policy[friends]"`,
	}},
}

func TestFindNamesTheSideThatDisagrees(t *testing.T) {
	t.Parallel()
	svid := credential(t, frontend)
	for _, tt := range bent {
		t.Run(tt.sound+": "+tt.sides[0], func(t *testing.T) {
			t.Parallel()
			e := sound[tt.sound].evidence(svid)
			tt.bend(&e)
			got, err := e.Find()
			var disagreement *Disagreement
			if !errors.As(err, &disagreement) {
				t.Fatalf("found %+v, %v; want a disagreement", got, err)
			}
			want := &Disagreement{Form: tt.form, Sides: tt.sides}
			if diff := cmp.Diff(want, disagreement); diff != "" {
				t.Errorf("disagreement (-want +got):\n%s", diff)
			}
			if got.Form != tt.form {
				t.Errorf("the finding looks %s, want %s", got.Form, tt.form)
			}
		})
	}
}

// The access log has an exclamation mark for a byte that is no UTF-8.
func TestFindPathOfBytes(t *testing.T) {
	t.Parallel()
	e := sound["served http"].evidence(credential(t, frontend))
	e.Arrival.Path, e.Log.Path = "/a?\xff", "/a?!"
	if got, err := e.Find(); err != nil || got.Form != Served {
		t.Errorf("found %+v, %v", got, err)
	}
}

// The filter that refuses is the last that ran, and stands on the layer of the refusal.
func TestFindNamesTheFilterThatDisagrees(t *testing.T) {
	t.Parallel()
	svid := credential(t, frontend)
	l7 := func(index int, of xds.Engine) xds.FilterLog {
		return xds.FilterLog{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: index}, Enforced: of}
	}
	l4 := xds.FilterLog{Enforced: denied("no one")}
	for name, tt := range map[string]struct {
		sound   string
		filters []xds.FilterLog
		sides   []string
	}{
		"the last filter refuses":   {"refused http", []xds.FilterLog{l7(0, allowed("")), l7(1, denied("no one"))}, nil},
		"all filters allow":         {"served http", []xds.FilterLog{l7(0, allowed("")), l7(1, allowed("friends"))}, nil},
		"a filter runs behind it":   {"refused http", []xds.FilterLog{l7(0, denied("no one")), l7(1, allowed("friends"))}, []string{"filter 0 on L7 refused, but filter 1 on L7 ran behind it"}},
		"a filter of another layer": {"refused http", []xds.FilterLog{l4}, []string{"filter 0 on L4 refused, but the refusal has the form of L7"}},
		"a refusal has no effect": {"served http", []xds.FilterLog{l7(0, denied("friends")), l7(1, allowed("friends"))}, []string{
			"the access log says deny by friends", "filter 0 on L7 refused, but filter 1 on L7 ran behind it",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := sound[tt.sound].evidence(svid)
			shadow := e.Log.Shadow
			e.Log.SetFilters(tt.filters)
			e.Log.Shadow = shadow
			_, err := e.Find()
			var sides []string
			var disagreement *Disagreement
			if errors.As(err, &disagreement) {
				sides = disagreement.Sides
			}
			if diff := cmp.Diff(tt.sides, sides); diff != "" {
				t.Errorf("sides (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDisagreementIsOneLine(t *testing.T) {
	t.Parallel()
	err := &Disagreement{Form: HandshakeFailed, Sides: []string{"the upstream saw a request", "the caller got an answer"}}
	const want = "evidence: it looks handshake failed, but the upstream saw a request; the caller got an answer"
	if got := err.Error(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFormsHaveNames(t *testing.T) {
	t.Parallel()
	for form, want := range map[Form]string{
		Served: "served", Refused: "refused", HandshakeFailed: "handshake failed", Rejected: "rejected",
	} {
		if got := form.String(); got != want {
			t.Errorf("form %d is %q, want %q", form, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	left := func(filters ...xds.FilterLog) Evidence { return Evidence{Log: xds.AccessLog{Filters: filters}} }
	judged := func(index int, effect policy.Effect) xds.FilterLog {
		return xds.FilterLog{FilterPlace: xds.FilterPlace{Index: index}, Enforced: xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: effect}}}
	}
	shadowed := func(f xds.FilterLog, effect policy.Effect) xds.FilterLog {
		f.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: effect}}
		return f
	}
	logged := func(origin string) xds.FilterLog {
		f := judged(1, policy.Log)
		f.Layer, f.Logs, f.Enforced.Verdict.Origin = policy.L7, true, origin
		return f
	}
	by := func(layer policy.Layer, rule string, effect policy.Effect, shadow string) xds.FilterLog {
		f := judged(0, effect)
		f.Layer, f.Enforced.Verdict.Origin = layer, rule
		f.Shadow = xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Deny, Origin: shadow}}
		return f
	}
	first, second := xds.FilterPlace{}, xds.FilterPlace{Index: 1}
	for name, tt := range map[string]struct {
		es   []Evidence
		want []FilterCounters
		sum  Counters
	}{
		"nothing": {nil, nil, Counters{}},
		"unjudged": {[]Evidence{
			{}, {Log: xds.AccessLog{Status: 400}},
			// The verdict of an engine that did not run does not count.
			left(xds.FilterLog{Enforced: xds.Engine{Verdict: policy.Verdict{Effect: policy.Allow}}}),
		}, nil, Counters{}},
		"verdicts": {
			[]Evidence{left(judged(0, policy.Allow)), left(judged(0, policy.Deny)), left(judged(0, policy.Deny))},
			[]FilterCounters{{FilterPlace: first, Counters: Counters{Allowed: 1, Denied: 2}}}, Counters{Allowed: 1, Denied: 2},
		},
		"shadows": {[]Evidence{
			left(shadowed(judged(0, policy.Allow), policy.Deny)), left(shadowed(judged(0, policy.Deny), policy.Deny)),
			left(shadowed(judged(0, policy.Allow), policy.Allow)), left(shadowed(xds.FilterLog{}, policy.Allow)),
		}, []FilterCounters{{FilterPlace: first, Counters: Counters{Allowed: 2, Denied: 1, ShadowAllowed: 2, ShadowDenied: 2}}}, Counters{Allowed: 2, Denied: 1, ShadowAllowed: 2, ShadowDenied: 2}},
		"filter by filter": {[]Evidence{
			left(judged(0, policy.Allow), judged(1, policy.Deny)), left(judged(0, policy.Deny)), left(judged(0, policy.Allow), judged(1, policy.Allow)),
		}, []FilterCounters{
			{FilterPlace: first, Counters: Counters{Allowed: 2, Denied: 1}},
			{FilterPlace: second, Counters: Counters{Allowed: 1, Denied: 1}},
		}, Counters{Allowed: 3, Denied: 2}},
		"a filter that only logs": {
			[]Evidence{left(logged("audit"), judged(0, policy.Allow)), left(logged(""))},
			[]FilterCounters{
				{FilterPlace: first, Counters: Counters{Allowed: 1}},
				{FilterPlace: logged("").FilterPlace, Counters: Counters{Allowed: 2}, Logged: 1},
				{FilterPlace: logged("").FilterPlace, Rule: "audit", Logged: 1},
			}, Counters{Allowed: 1},
		},
		// No rule matched the third request. On L4 Envoy does not count by rule.
		"rules": {
			[]Evidence{
				left(by(policy.L7, "b", policy.Allow, "a")), left(by(policy.L7, "a", policy.Deny, "a")), left(by(policy.L7, "", policy.Deny, "")),
				left(by(policy.L4, "a", policy.Allow, "b")),
			},
			[]FilterCounters{
				{FilterPlace: first, Counters: Counters{Allowed: 1, ShadowDenied: 1}},
				{FilterPlace: xds.FilterPlace{Layer: policy.L7}, Counters: Counters{Allowed: 1, Denied: 2, ShadowDenied: 3}},
				{FilterPlace: xds.FilterPlace{Layer: policy.L7}, Rule: "a", Counters: Counters{Denied: 1, ShadowDenied: 2}},
				{FilterPlace: xds.FilterPlace{Layer: policy.L7}, Rule: "b", Counters: Counters{Allowed: 1}},
			}, Counters{Allowed: 2, Denied: 2, ShadowDenied: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Count(tt.es)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("filters (-want +got):\n%s", diff)
			}
			if sum := Sum(got); sum != tt.sum {
				t.Errorf("sum: got  %s\nwant %s", sum, tt.sum)
			}
		})
	}
}

func TestCountersSpeakEnvoysWords(t *testing.T) {
	t.Parallel()
	const want = "allowed 1, denied 2, shadow_allowed 3, shadow_denied 4"
	of := FilterCounters{FilterPlace: xds.FilterPlace{Layer: policy.L7, Index: 2}, Counters: Counters{Allowed: 1, Denied: 2, ShadowAllowed: 3, ShadowDenied: 4}}
	if got := of.Counters.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := of.String(); got != "filter 2 on L7: "+want {
		t.Errorf("of a filter: %q", got)
	}
	rule := of
	rule.Rule = "audit"
	if got := rule.String(); got != `filter 2 on L7, rule "audit": `+want {
		t.Errorf("of a rule: %q", got)
	}
	of.Logs, of.Logged = true, 5
	if got := of.String(); got != "filter 2 on L7, which only logs: "+want+", logged 5" {
		t.Errorf("of a filter that logs: %q", got)
	}
}
