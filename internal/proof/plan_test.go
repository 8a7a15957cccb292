package proof_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// head is a backend with an inbound of either layer under one policy.
const head = `
case: head
workloads:
  - name: backend
    inbounds: [{name: http-port, port: 8080, protocol: http}, {name: tcp-port, port: 5432, protocol: tcp}]
policies:
  - type: MeshTrafficPermission
    name: p
    spec:
      default:
        deny: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/legacy/sa/a}}]
        allow:
          - spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/ns/observability/}
            path: {type: Prefix, value: /metrics}
`

func plan(t *testing.T, c cases.Case) *proof.Proof {
	t.Helper()
	p, err := proof.Plan(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// huge reports whether a case has thousands of rules and tens of thousands of requests. The
// command prove takes seconds, so the tests leave it out.
func huge(c cases.Case) bool { return c.Story == "legacy-size" }

// planned is a built-in case and its plan.
type planned struct {
	c   cases.Case
	p   *proof.Proof
	err error
}

// planStories plans the built-in cases once for all tests. With -short it takes every fifth case.
var planStories = sync.OnceValue(func() (out []planned) {
	all, err := cases.Stories()
	if err != nil {
		return []planned{{err: err}}
	}
	for i, c := range all {
		if huge(c) || testing.Short() && i%5 != 0 {
			continue
		}
		p, err := proof.Plan(c)
		out = append(out, planned{c, p, err})
	}
	return out
})

// The plan of a built-in case has each class of each inbound, the witness first, and no
// request twice.
func TestPlanAsksForEveryClass(t *testing.T) {
	t.Parallel()
	classes := 0
	for _, story := range planStories() {
		c, p := story.c, story.p
		// Routes and timeouts are refused by what reads them.
		if (story.err != nil) != (c.ExpectError != "") && !(story.err == nil && len(c.Routing) > 0) {
			t.Errorf("%s: %v, want %q", c.Place, story.err, c.ExpectError)
		}
		if story.err != nil {
			continue
		}
		asked := map[string]bool{}
		witnessed := map[string]int{}
		for i, q := range p.Asked() {
			key := fmt.Sprintf("%s %q %q %q %q %q %q %#v %s", q.To, q.From.Name, q.SNI, q.Method, q.Path, q.Authority, q.Headers, q.Token, q.SourceIP)
			if asked[key] && !q.From.Anonymous && !q.From.Plaintext {
				t.Errorf("%s: %s is asked twice", c.Place, key)
			}
			asked[key] = true
			if q.Request.Place != fmt.Sprintf("request %d", i+1) {
				t.Errorf("%s: request %d is at %s", c.Place, i+1, q.Request.Place)
			}
			if td := q.From.SignedBy; !td.IsZero() && !slices.Contains(p.Case.TrustDomains, td) {
				t.Errorf("%s: no inbound trusts %s", c.Place, q.From.Name)
			}
			for _, in := range p.Inbounds {
				if in.String() != q.To {
					continue
				}
				if class, ok := in.Cover.Locate(q.Seen); ok {
					witnessed[fmt.Sprint(q.To, class)]++
				}
			}
		}
		for _, in := range p.Inbounds {
			for class := range in.Cover.Classes {
				classes++
				if witnessed[fmt.Sprint(in.String(), class)] == 0 {
					t.Errorf("%s: %s: no request is of class %d: %s", c.Place, in, class, in.Cover.Classes[class])
				}
			}
		}
	}
	least := 1000
	if testing.Short() {
		least = 300
	}
	if classes < least {
		t.Errorf("%d classes in all", classes)
	}
}

// mTLS keeps a caller without a name out, or the caller comes in plaintext, judged or not.
func TestPlanOfCallerWithoutName(t *testing.T) {
	t.Parallel()
	const gateway = `
policies:
  - apiVersion: gateway.networking.k8s.io/v1
    kind: AuthorizationPolicy
    metadata: {name: p}
    spec: {targetRefs: [{kind: Pod, selector: {matchLabels: {app: a}}}], action: ALLOW, enforcementLevel: Network, rules: [{sources: [{type: SPIFFE, spiffe: spiffe://trust-domain.mesh/a}]}]}
`
	const kuma = `
policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Prefix, value: spiffe://trust-domain.mesh/}}]}}}]
`
	for name, tt := range map[string]struct {
		mtls, policies, caller string
		want                   cases.Want
	}{
		"strict":                            {"strict", kuma, "anonymous", cases.HandshakeFailure},
		"permissive, and no policy decides": {"permissive", kuma, "plaintext", cases.Allow},
		"permissive, and a policy decides":  {"permissive", gateway, "plaintext", cases.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := plan(t, casetest.Parse(t, `
case: x
workloads: [{name: backend, labels: {app: a}, inbounds: [{name: in, port: 80, protocol: http, mtls: `+tt.mtls+`}]}]
requests: [{from: anonymous, to: backend/in, want: handshake-failure}]
`+tt.policies))
			found := false
			for _, q := range p.Asked() {
				if len(q.Seen.URIs)+len(q.Seen.DNS) == 0 {
					found = true
					if q.From.Name != tt.caller || q.Want != tt.want {
						t.Errorf("%s, want %s", q.From.Name, q.Want)
					}
				}
			}
			if !found {
				t.Error("no caller is without a name")
			}
		})
	}
}

// Where an inbound takes plaintext alone, the proof says that no policy decides about a name.
func TestNamesBeforePlaintext(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"disable": 1, "permissive": 0, "strict": 0} {
		p := plan(t, casetest.Parse(t, "case: x\nworkloads: [{name: backend, inbounds: [{name: in, port: 80, protocol: http, mtls: "+mode+`}]}]
policies: [{apiVersion: security.istio.io/v1, kind: AuthorizationPolicy, metadata: {name: p}, spec: {rules: [{from: [{source: {principals: [trust-domain.mesh/ns/a/sa/b]}}]}]}}]
requests: [{from: plaintext, to: backend/in, want: refused}]
`))
		report := proof.Report{}
		report.Add(p, result.Case{})
		var text strings.Builder
		report.WriteText(&text, false)
		if got := strings.Count(text.String(), "unreachable: each caller with a name: the inbound takes plaintext alone"); got != want {
			t.Errorf("%s: told %d times in\n%s", mode, got, &text)
		}
	}
}

// Where a case states no mode and its mesh takes plaintext by default, the proof says that it is not about callers in plaintext.
func TestModeThatNobodyStates(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]int{"": 1, ", mtls: strict": 0, ", mtls: permissive": 0} {
		p := plan(t, casetest.Parse(t, "case: x\nworkloads: [{name: backend, inbounds: [{name: in, port: 80"+mode+`}]}]
policies: [{apiVersion: policy.linkerd.io/v1beta3, kind: Server, metadata: {name: p}, spec: {podSelector: {}, port: 80, accessPolicy: all-unauthenticated}}]
requests: [{from: anonymous, to: backend/in, want: handshake-failure}]
`))
		report := proof.Report{}
		report.Add(p, result.Case{})
		var text strings.Builder
		report.WriteText(&text, false)
		if got := strings.Count(text.String(), "unreachable: each caller in plaintext: nobody says"); got != want {
			t.Errorf("%s: told %d times in\n%s", mode, got, &text)
		}
	}
}

// The plan has unusual spellings of a path too.
func TestPlanOfOddPaths(t *testing.T) {
	t.Parallel()
	paths := func(normalization string) []string {
		var out []string
		for _, q := range plan(t, casetest.Parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]\n"+normalization)).Asked() {
			if strings.HasPrefix(q.Path, "/.") {
				out = append(out, q.Path)
				if q.Seen.Path != q.Path[2:] {
					t.Errorf("%s is seen as %s", q.Path, q.Seen.Path)
				}
			}
		}
		return out
	}
	if got := paths(""); !slices.Contains(got, "/./metrics") {
		t.Errorf("asked are %q", got)
	}
	if got := paths("options: {pathNormalization: {normalizePath: false}}\n"); len(got) > 0 {
		t.Errorf("without normalization %q are other paths", got)
	}
}

func TestPlanIsDeterministic(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]")
	first, second := casewriter.YAML(plan(t, c).Case), casewriter.YAML(plan(t, c).Case)
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
}

// asWanted returns the result of a run that decides as the case wants.
func asWanted(p *proof.Proof) result.Case {
	r := result.Case{Case: p.Case}
	for _, q := range p.Asked() {
		r.Requests = append(r.Requests, result.Request{Request: q.Request, Judgement: verdict.Judgement{Seen: q.Seen}})
	}
	return r
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	p := plan(t, casetest.Parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]"))
	good := asWanted(p)
	v := p.Judge(good)
	proven, of := v.Counts()
	if !v.Holds() || proven != of || of < 5 || !v.Complete() {
		t.Errorf("%d of %d, holds: %t, complete: %t", proven, of, v.Holds(), v.Complete())
	}
	if got := proof.Sentence(1284, 1284, true, "1.40.0"); got != "1,284 of 1,284 request classes decided as specified on Envoy 1.40.0; cover complete" {
		t.Error(got)
	}

	// If one witness is decided wrongly, only its class is not proven.
	bad := asWanted(p)
	bad.Requests[0].Problems = []verdict.Problem{{Found: "Envoy says served"}}
	v = p.Judge(bad)
	if proven, _ := v.Counts(); v.Holds() || proven != of-1 || len(v.Disagreements) != 1 || v.Inbounds[0].Classes[0].Proven {
		t.Errorf("%d of %d, %d disagreements", proven, of, len(v.Disagreements))
	}
	// If counters do not add up, no class is proven.
	failed := asWanted(p)
	failed.Err = fmt.Errorf("the counters moved by too much")
	if proven, _ := p.Judge(failed).Counts(); proven != 0 {
		t.Errorf("%d classes are proven by counters that do not add up", proven)
	}
	// A cover with examples only is no proof, neither in the heading nor in the last line.
	p = proof.PlanRead(p.Reading, policy.Program{Gates: []policy.Gate{{Rules: []policy.Rule{{When: policy.Is{Attribute: &policy.Attribute{Name: "new", Phrase: "new"}}}}}}})
	sampled := asWanted(p)
	sampled.Case.Name = "sampled"
	report := proof.Report{}
	report.Add(p, sampled)
	var text strings.Builder
	if report.WriteText(&text, false); report.Holds() || !strings.HasPrefix(text.String(), "✗ sampled\n") || !strings.Contains(text.String(), "\n✗ ") {
		t.Errorf("%s", text.String())
	}
	p = plan(t, casetest.Parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]"))
	// Without requests no class is proven.
	if v := p.Judge(result.Case{Case: p.Case, Err: fmt.Errorf("refused")}); v.Holds() {
		t.Error("it holds without a request")
	}
	if v := p.Judge(result.Case{Case: p.Case}); v.Holds() {
		t.Error("it holds without a request")
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	p := plan(t, casetest.Parse(t, head+"requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]"))
	v := p.Judge(asWanted(p))
	grid := v.Inbounds[0].Grid()
	if diff := cmp.Diff([]string{"GET /", "GET /metrics"}, grid.Requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	for i, caller := range grid.Callers {
		for n, cell := range grid.Cells[i] {
			allowed := strings.Contains(caller, "/observability/") && grid.Requests[n] == "GET /metrics"
			if (cell.Decision.Effect == policy.Allow) != allowed || !cell.Proven || cell.Class < 0 {
				t.Errorf("%s, %s: %+v", caller, grid.Requests[n], cell)
			}
		}
	}
	if tcp := v.Inbounds[1].Grid(); len(tcp.Requests) != 1 || tcp.Requests[0] != "connection" {
		t.Errorf("on tcp: %q", tcp.Requests)
	}
}

// The requests of an adversary are requests that the policies deny, and the case wants a
// refusal.
func TestAttack(t *testing.T) {
	t.Parallel()
	p := plan(t, casetest.Parse(t, `
case: x
workloads: [{name: backend, inbounds: [{name: http-port, port: 80, protocol: http}, {name: tcp-port, port: 81, protocol: tcp}]}]
policies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{spiffeId: {type: Exact, value: spiffe://trust-domain.mesh/ns/shop/sa/victim}}]}}}]
requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]
`))
	before := len(p.Asked())
	if n := p.Attack(); n < 60 || len(p.Asked()) != before+n {
		t.Fatalf("%d requests of an adversary, %d in all", n, len(p.Asked()))
	}
	for _, q := range p.Asked()[before:] {
		if q.Want != cases.Refused || policy.Decide(p.Inbounds[0].Program, q.Seen).Effect != policy.Deny {
			t.Errorf("%s: %s", q.From.Name, q.Want)
		}
	}
}
