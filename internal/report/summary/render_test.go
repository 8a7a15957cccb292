package summary

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/terminal"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// These results are rare on a real Envoy, and the summary must show them.
func rareResults() []result.Case {
	mesh := []spiffeid.TrustDomain{spiffeid.RequireTrustDomainFromString("trust-domain.mesh"), spiffeid.RequireTrustDomainFromString("other.mesh")}
	byDefault := xds.Engine{Ran: true, Verdict: policy.Verdict{Origin: "default"}}
	request := func(from, to string, p policy.Protocol, e evidence.Evidence, problems ...string) result.Request {
		e.Call.Protocol = p
		finding, _ := e.Find()
		judged := verdict.Judgement{Finding: finding}
		for _, text := range problems {
			judged.Problems = append(judged.Problems, verdict.Problem{Found: text})
		}
		return result.Request{
			Request:  cases.Request{Place: "rare.yaml:9: requests[0]", From: cases.Caller{Name: from}, To: to, Want: cases.Allow},
			Evidence: e, Judgement: judged,
		}
	}
	rejected := request("spiffe://trust-domain.mesh.evil/a", "backend/http", policy.HTTP, evidence.Evidence{
		Answer: caller.Answer{Outcome: caller.Answered, Status: 400}, Log: xds.AccessLog{Status: 400, Details: "path_normalization_failed"}})
	rejected.Method, rejected.Path = "PUT", "/%2f\x1b[2J"
	refusedRPC := request("spiffe://other.mesh/a", "backend/grpc", policy.GRPC, evidence.Evidence{
		Call:   caller.Call{GRPC: "shop.Cart/Add"},
		Answer: caller.Answer{Outcome: caller.Answered, Status: 200, GRPC: codes.PermissionDenied, Body: "RBAC: access denied"},
		Log:    xds.AccessLog{Status: 200, Details: "rbac_access_denied_matched_policy[default]", Enforced: byDefault},
	})
	refusedRPC.GRPC = "shop.Cart/Add"
	faulty := request("spiffe://trust-domain.mesh/a", "backend/http", policy.HTTP,
		evidence.Evidence{Answer: caller.Answer{Outcome: caller.Fault, Err: errors.New("connection refused")}, Retries: 2},
		"evidence: transport fault, nothing is proven: connection refused")
	contradiction := request("spiffe://trust-domain.mesh/ns/a/sa/a", "backend/http", policy.HTTP, evidence.Evidence{
		Answer:  caller.Answer{Outcome: caller.Answered, Status: 403, Body: "RBAC: access denied"},
		Arrival: &arrival.Record{Method: "GET", Path: "/", Bytes: 3, Requests: 1}, Log: xds.AccessLog{Enforced: byDefault, Status: 403},
		Took: 1500 * time.Microsecond,
	}, "evidence: it looks refused, but the upstream saw the request")
	contradiction.Judged, contradiction.Decision = true, policy.Decision{Verdict: byDefault.Verdict, Shadowed: true, Shadow: policy.Verdict{Effect: policy.Allow, Origin: "p"}}
	return []result.Case{
		{
			Case:     cases.Case{Name: "two trust domains", Story: "rare", Place: "rare.yaml:1", TrustDomains: mesh},
			Requests: []result.Request{rejected, refusedRPC},
			Warnings: []policy.Warning{{Kind: "no-rules", Place: "rare.yaml:5: policies[0]", Message: "MeshTrafficPermission p has no effect"}},
			Notes:    []string{"a figure that a reader may stumble over"},
			Counters: map[string]evidence.Counters{"backend/grpc": {Denied: 1}},
			Took:     12345 * time.Microsecond,
		},
		{
			Case: cases.Case{Name: "the caller's fault", Story: "rare", Place: "folder of cases/rare.yaml:20", TrustDomains: mesh[:1]},
			Err:  errors.New("harness: call backend/http: connection refused\ncall backend/tcp: connection refused"), Fault: true,
			Requests: []result.Request{faulty, contradiction},
		},
		{
			Case:    cases.Case{Name: "of another version", Story: "rare", Place: "rare.yaml:40", TrustDomains: mesh[:1]},
			Skipped: "it holds from 99.0.0 only: the case wants deny", NotApplicable: true, Requests: []result.Request{rejected},
		},
		{Case: cases.Case{Name: "a name that\nclears\x1b[2J", Place: "-rare.yaml:30"}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	results := rareResults()
	run := report.Run{Envoy: "1.40.0", Runtime: "container"}
	for _, r := range results {
		c := report.Build(r)
		c.Again = RepeatCommand(r.Case, run, false)
		run.Add(c)
	}
	runs := Runs{All: []Run{{run, results}}}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"rare.txt":    func(b *bytes.Buffer) error { runs.WriteText(b, false); return nil },
		"rare.colour": func(b *bytes.Buffer) error { runs.WriteText(b, true); return nil },
		"quiet.txt": func(b *bytes.Buffer) error {
			quiet := runs
			quiet.Quiet = true
			quiet.WriteText(b, false)
			return nil
		},
		"rare.json": func(b *bytes.Buffer) error { return terminal.WriteJSON(b, runs) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			if err := write(&got); err != nil {
				t.Fatal(err)
			}
			golden.Compare(t, name+".golden", got.Bytes())
		})
	}
}

// A quiet text counts the warnings that nobody stated.
func TestQuietTextCountsWarnings(t *testing.T) {
	t.Parallel()
	stated, other := rareResults()[0], rareResults()[0]
	stated.Case.ExpectWarnings = []string{"no effect"}
	for _, tt := range []struct {
		results []result.Case
		want    string
	}{
		{[]result.Case{stated, other}, "the policies of 1 case:"},
		{[]result.Case{stated}, ""},
	} {
		var got bytes.Buffer
		Runs{All: []Run{{Results: tt.results}}, Quiet: true}.WriteText(&got, false)
		if has := strings.Contains(got.String(), "lint warns"); has != (tt.want != "") || !strings.Contains(got.String(), tt.want) {
			t.Errorf("%d cases: want %q in\n%s", len(tt.results), tt.want, &got)
		}
	}
}

// A quiet text says which policies were drawn: without the seed nobody can draw them again.
func TestQuietTextSaysWhatWasDrawn(t *testing.T) {
	t.Parallel()
	drawn := result.Case{Case: cases.Case{Name: "drawn", Story: "drawn"}, Drawn: &result.Drawn{Seed: 7}, Notes: []string{"seed 7: 9 sets", "it shows that"}}
	other := result.Case{Case: cases.Case{Name: "other", Story: "drawn"}, Notes: []string{"a note"}}
	var got bytes.Buffer
	Runs{All: []Run{{Results: []result.Case{drawn, other}}}, Quiet: true}.WriteText(&got, false)
	const want = "drawn policies: seed 7: 9 sets\ndrawn policies: it shows that\n"
	if !strings.Contains(got.String(), want) || strings.Contains(got.String(), "a note") {
		t.Errorf("want %q in\n%s", want, &got)
	}
}

func TestCommandThatRunsACaseAgain(t *testing.T) {
	t.Parallel()
	c := cases.Case{Name: "it's (not) 100% /metrics", Place: "cases/kuma/a.yaml:1"}
	for name, tt := range map[string]struct {
		version, runtime  string
		builtIn           bool
		place, want, name string
	}{
		"built in":       {"1.40.0", "process", true, c.Place, `meshproof run --case '^it'\''s \(not\) 100% /metrics$' --envoy 1.40.0 --runtime process`, ""},
		"file":           {"1.39.3", "container", false, c.Place, `meshproof run cases/kuma/a.yaml --case '^it'\''s \(not\) 100% /metrics$' --envoy 1.39.3 --runtime container`, ""},
		"odd file":       {"1.40.0", "process", false, "-a: b.yaml:7", `meshproof run './-a: b.yaml' --case '^it'\''s \(not\) 100% /metrics$' --envoy 1.40.0 --runtime process`, ""},
		"standard input": {"1.40.0", "process", false, "-:7", `meshproof run - --case '^it'\''s \(not\) 100% /metrics$' --envoy 1.40.0 --runtime process`, ""},
		"odd name":       {"1.40.0", "process", true, c.Place, `meshproof run --case '^a\x{a}b\x{1b}$' --envoy 1.40.0 --runtime process`, "a\nb\x1b"},
	} {
		c := c
		c.Place, c.Name = tt.place, cmp.Or(tt.name, c.Name)
		if got := RepeatCommand(c, report.Run{Envoy: tt.version, Runtime: tt.runtime}, tt.builtIn); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
}

// A story none of whose cases was asked has no tick, and neither has the run.
func TestNothingAskedIsNoTick(t *testing.T) {
	t.Parallel()
	left := result.Case{Case: cases.Case{Name: "a", Story: "later"}, Skipped: "it needs another Envoy", NotApplicable: true}
	for want, results := range map[string][]result.Case{
		"– later: 0 cases passed, 1 not applicable, 0 requests: nothing was asked": {left},
		"✓ later: 1 case passed, 1 not applicable, 0 requests":                     {left, {Case: left.Case}},
		"✗ later: 1 of 1 case failed, 1 not applicable, 0 requests":                {left, {Case: left.Case, Err: errors.New("refused")}},
	} {
		if got := storyLine(terminal.Paint(false), results); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
