package verdict

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

// The frontend gets into the backend, and no other caller does.
const (
	frontend = "spiffe://trust-domain.mesh/ns/default/sa/frontend"
	friends  = "kri_mtp_default___friends_"
	head     = `
case: friends only
workloads: [{name: backend, inbounds: [{name: http-port, port: 8080}, {name: tcp-port, port: 5432, protocol: tcp}]}]
policies:
  - {type: MeshTrafficPermission, name: friends, spec: {default: {allow: [{spiffeId: {type: Exact, value: ` + frontend + `}}]}}}
`
)

// allowed returns the evidence of an allowed request of the frontend.
func allowed(t *testing.T, path string) evidence.Evidence {
	t.Helper()
	ca, err := certs.NewAuthority(spiffeid.RequireTrustDomainFromString("trust-domain.mesh"))
	if err != nil {
		t.Fatal(err)
	}
	svid, err := ca.Mint(spiffeid.RequireFromString(frontend))
	if err != nil {
		t.Fatal(err)
	}
	return evidence.Evidence{
		Call:    caller.Call{Credential: svid, Authority: "backend", Path: path},
		Answer:  caller.Answer{Outcome: caller.Answered, Status: 200},
		Arrival: &arrival.Record{Requests: 1, Method: "GET", Authority: "backend", Path: path, Header: http.Header{"X-Forwarded-Client-Cert": {"URI=" + frontend}}},
		Log: xds.AccessLog{
			Request: true, Status: 200, Path: path, PeerURIs: []string{frontend},
			Enforced: xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: friends}},
		},
	}
}

// Judge reports evidence that a correct Envoy never shows, and decisions that a correct
// meshproof never makes.
func TestJudgeBentEvidence(t *testing.T) {
	t.Parallel()
	other := "other-policy"
	for name, tt := range map[string]struct {
		path   string
		bend   func(*Reading, *evidence.Evidence)
		judged bool
		want   string
	}{
		"nothing": {"/", func(*Reading, *evidence.Evidence) {}, true, ""},
		"sides that disagree": {"/", func(_ *Reading, e *evidence.Evidence) { e.Arrival.Requests = 2 }, false,
			"evidence: it looks served, but the upstream saw 2 requests"},
		"a fault": {"/", func(_ *Reading, e *evidence.Evidence) { e.Answer = caller.Answer{Err: errors.New("cut")} }, false,
			"evidence: transport fault, nothing is proven: cut"},
		"a path that should be rejected": {"/a%2fb", func(*Reading, *evidence.Evidence) {}, false,
			`the listener should answer 400 (path refused with 400: "/a%2fb" has an escaped slash), Envoy says served (allow by ` + friends + ")"},
		"another path": {"/", func(_ *Reading, e *evidence.Evidence) { e.Arrival.Path, e.Log.Path = "/x", "/x" }, true,
			`the upstream saw path "/x", judged was "/"`},
		"an oracle that contradicts itself": {"/", func(r *Reading, _ *evidence.Evidence) {
			r.programs[0].Gates[0].Rules[0].Origin = other
		}, true, "meshproof contradicts itself"},
		"a policy that judged no request": {"/", func(r *Reading, e *evidence.Evidence) {
			e.Answer, e.Arrival, e.Log = caller.Answer{Outcome: caller.Alert}, nil, xds.AccessLog{TransportFailure: "TLS_error"}
			r.Case.Requests[0].By = &other
		}, false, "the case wants it decided by other-policy, Envoy names no policy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := casetest.Parse(t, head+"requests: [{from: "+frontend+", to: backend/http-port, path: "+tt.path+", want: allow}]")
			r, err := Read(c)
			if err != nil {
				t.Fatal(err)
			}
			e := allowed(t, tt.path)
			tt.bend(r, &e)
			q := r.Case.Requests[0]
			got := Judge(r.Inbound(q.To).Expect(q), StatedOf(q, false), e)
			if all := strings.Join(got.ProblemTexts(), "\n"); !strings.Contains(all, tt.want) || (tt.want == "") != (all == "") {
				t.Errorf("problems %q, want %q", got.Problems, tt.want)
			}
			if got.Judged != tt.judged {
				t.Errorf("judged: %t, want %t", got.Judged, tt.judged)
			}
		})
	}
}

// Where no policy decides, a problem still has a kind of its own.
func TestJudgeWithoutADecision(t *testing.T) {
	t.Parallel()
	served := allowed(t, "/")
	served.Call.Credential, served.Call.Plaintext = nil, true
	served.Arrival.Header, served.Log.PeerURIs = nil, nil
	unjudged := served
	unjudged.Log.Enforced = xds.Engine{}
	refused := evidence.Evidence{
		Call: caller.Call{Plaintext: true}, Answer: caller.Answer{Outcome: caller.Alert}, Log: xds.AccessLog{TransportFailure: "TLS_error"},
	}
	permissive := strings.Replace(head, "port: 8080", "port: 8080, mtls: permissive", 1)
	for name, tt := range map[string]struct {
		head, want string
		evidence   evidence.Evidence
		problems   []Kind
	}{
		"kept out":                      {head, "handshake-failure", refused, nil},
		"let in where mTLS is strict":   {head, "handshake-failure", served, []Kind{OtherWant, NotKeptOut}},
		"passes unjudged":               {permissive, "allow", unjudged, nil},
		"kept out where it should pass": {permissive, "allow", refused, []Kind{OtherWant}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := Read(casetest.Parse(t, tt.head+"requests: [{from: plaintext, to: backend/http-port, want: "+tt.want+"}]"))
			if err != nil {
				t.Fatal(err)
			}
			q := r.Case.Requests[0]
			got := Authorization.Judge(Authorization.Expect(r.Inbound(q.To), q), StatedOf(q, false), tt.evidence)
			var kinds []Kind
			for _, p := range got.Problems {
				kinds = append(kinds, p.Kind)
			}
			if !slices.Equal(kinds, tt.problems) || got.Judged {
				t.Errorf("judged: %t, %q", got.Judged, got.Problems)
			}
		})
	}
}

// The expectation of each request in the built-in cases is what the case wants. A status
// other than 403 is Envoy's own answer, which no policy predicts.
func TestExpectationsOfTheStories(t *testing.T) {
	t.Parallel()
	all := casetest.Stories(t)
	met := map[cases.Want]int{}
	var unfixed behavior.Set
	for _, b := range behavior.All {
		unfixed = unfixed.Change(b, false)
	}
	for _, c := range all {
		if c.ExpectError != "" {
			continue
		}
		r, err := Read(c)
		if err != nil {
			t.Fatalf("%s: %v", c.Place, err)
		}
		if !c.Gate.Admits("1.40.0", behavior.Set{}) {
			r = r.OnEnvoy(unfixed) // it is about an old release
		}
		for _, q := range c.Requests {
			want := Want(r.Inbound(q.To).Expect(q))
			met[want]++
			status, answered := q.Want.Status()
			if want == q.Want || want == cases.Deny && (q.Want == cases.Close || status == 403) ||
				want != cases.HandshakeFailure && answered && status != 403 {
				continue
			}
			t.Errorf("%s: %s %s as %s: expected is %s, the case wants %s", q.Place, q.Method, q.Path, q.From.Name, want, q.Want)
		}
	}
	for _, want := range []cases.Want{cases.Allow, cases.Deny, cases.HandshakeFailure, cases.Status(400)} {
		if met[want] < 10 {
			t.Errorf("%s is expected of %d requests", want, met[want])
		}
	}
}

// A memo reads the policies of a case once, also if they are refused. It distinguishes a
// refusal of all policies from a refusal of one inbound.
func TestPoliciesOfACaseAreReadOnce(t *testing.T) {
	t.Parallel()
	good, bad := casetest.Parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]\n"), casetest.Parse(t, head+"expectError: x\n")
	bad.Name, bad.Policies = "bad", []manifest.Document{{}}
	var memo Memo
	first, err := memo.Read(good)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := memo.Read(good); again != first || err != nil {
		t.Errorf("read again: %v", err)
	}
	_, refused := memo.Read(bad)
	if _, again := memo.Read(bad); refused == nil || again != refused || errors.As(refused, new(*InboundError)) {
		t.Errorf("refused: %v, then %v", refused, again)
	}
}
