package suite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/casetest"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
	"github.com/meshproof/meshproof/xds"
)

const ask = "requests: [{from: " + frontend + ", to: backend/http-port, want: allow}]\n"

// checkErr fails unless each line of the error contains the wanted line; "" is no error.
func checkErr(t *testing.T, err error, want ...string) {
	t.Helper()
	var got []string
	if err != nil {
		got = strings.Split(err.Error(), "\n")
	}
	if len(got) != len(want) {
		t.Errorf("error %v, want %d lines: %q", err, len(want), want)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestCaseAsWanted(t *testing.T) {
	t.Parallel()
	result := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), casetest.Parse(t, head+`
requests:
  - {from: [`+frontend+`, `+intruder+`], to: [backend/http-port, backend/tcp-port], want: deny}
  - {from: plaintext, to: backend/tcp-port, want: handshake-failure}
`))
	checkErr(t, result.Err)
	type verdict struct {
		Judged   bool
		Decision policy.Decision
		Form     evidence.Form
		Passed   bool
	}
	var got []verdict
	for _, q := range result.Requests {
		got = append(got, verdict{q.Judged, q.Decision, q.Finding.Form, len(q.Problems) == 0})
	}
	allowed, denied := policy.Verdict{Effect: policy.Allow, Origin: friends}, policy.Verdict{Origin: "default"}
	want := []verdict{
		{true, policy.Decision{Verdict: allowed, Layer: policy.L7}, evidence.Served, false},
		{true, policy.Decision{Verdict: allowed, Layer: policy.L4}, evidence.Served, false},
		{true, policy.Decision{Verdict: denied, Layer: policy.L7}, evidence.Refused, true},
		{true, policy.Decision{Verdict: denied, Layer: policy.L4}, evidence.Refused, true},
		{false, policy.Decision{}, evidence.HandshakeFailed, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts, in order (-want +got):\n%s", diff)
	}
	one := evidence.Counters{Allowed: 1, Denied: 1}
	if diff := cmp.Diff(map[string]evidence.Counters{"backend/http-port": one, "backend/tcp-port": one}, result.Counters); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
	if result.Passed() || result.Fault || result.Took <= 0 || result.Case.Name != "friends only" {
		t.Errorf("result %+v", result)
	}
}

// The case as a whole: errors of the policies and warnings, expected or not.
func TestCaseErrors(t *testing.T) {
	t.Parallel()
	const (
		refused = "case: refused\nworkloads: [{name: backend, inbounds: [{port: 80}]}]\npolicies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: [{}]}}}]\n"
		empty   = "case: empty\nworkloads: [{name: backend, inbounds: [{name: http-port, port: 80}]}]\npolicies: [{type: MeshTrafficPermission, name: p, spec: {default: {allow: []}}}]\n"
		broken  = "the compiler does not compile it"
	)
	failing := CompilerFunc(func(context.Context, policy.Inbound, []manifest.Document, language.Options) (xds.Filters, error) {
		return xds.Filters{}, errors.New(broken)
	})
	expect := func(text string) string { return "expectError: " + text + "\n" }
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		want     []string
	}{
		"an error as expected":           {refused + expect("default.allow[0]"), nil, nil},
		"another error":                  {refused + expect("default.deny[0]"), nil, []string{`an error that contains "default.deny[0]" was expected, but: `}},
		"an error that is not expected":  {refused + "expectWarning: []\n", nil, []string{"default.allow[0]"}},
		"no error where one is expected": {head + expect("anything"), nil, []string{`the policies were accepted; an error that contains "anything" was expected`}},
		"the compiler's error":           {head + ask, failing, []string{broken}},
		"the compiler's, as expected":    {head + expect(broken), failing, nil},
		"a NACK as expected":             {head + expect("missing )"), spoilt, nil},
		"another NACK":                   {head + expect("nothing"), spoilt, []string{`an error that contains "nothing" was expected, but: harness: mesh`}},
		"a NACK that is not expected":    {head + ask, spoilt, []string{"refused by Envoy: "}},
		"a warning as expected":          {empty + "expectWarning: no list has a matcher\n", nil, nil},
		"a warning that is not expected": {empty + "expectWarning: []\n", nil, []string{`the case does not expect the warning "test.yaml:`}},
		"a warning instead of another":   {empty + "expectWarning: it rains\n", nil, []string{`no warning contains "it rains"`, "the case does not expect the warning"}},
		"a warning without a statement":  {empty + "requests: [{from: anonymous, to: backend/http-port, want: handshake-failure}]\n", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Runner{Harness: sharedEnvoy.Get(t), Compiler: tt.compiler}.Case(t.Context(), casetest.Parse(t, tt.text))
			checkErr(t, result.Err, tt.want...)
			if result.Fault {
				t.Error("the policies' error is taken for a fault of the machine")
			}
			if result.Passed() != (len(tt.want) == 0) {
				t.Errorf("passed: %t", result.Passed())
			}
			if tt.want != nil && len(result.Requests) > 0 {
				t.Errorf("%d requests were sent", len(result.Requests))
			}
		})
	}
}

// A warning of both lint and lowering appears once, and the warnings are sorted.
func TestWarningsStandOnce(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, `
case: warnings
workloads: [{name: backend, inbounds: [{name: b, port: 2, protocol: tcp}, {name: a, port: 1, protocol: tcp}]}]
policies:
  - {type: MeshTrafficPermission, name: p, spec: {default: {deny: [{path: {type: Prefix, value: /b}}], allow: []}}}
requests: [{from: `+frontend+`, to: backend/a, want: deny}]
`)
	result := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), c)
	checkErr(t, result.Err)
	if len(result.Warnings) < 2 {
		t.Fatalf("warnings %q, want several", result.Warnings)
	}
	for i := 1; i < len(result.Warnings); i++ {
		if a, b := result.Warnings[i-1].String(), result.Warnings[i].String(); a >= b {
			t.Errorf("warning %q stands before %q", a, b)
		}
	}
}

func TestCountersOfACase(t *testing.T) {
	t.Parallel()
	requests := `
requests:
  - {from: ` + frontend + `, to: [backend/http-port, backend/tcp-port], want: allow}
  - {from: ` + intruder + `, to: backend/http-port, want: deny}
`
	twice := altered(func(p *policy.Program) {
		if p.Gates[0].Layer == policy.L7 {
			p.Gates = append([]policy.Gate{{Layer: policy.L4, Default: policy.Verdict{Effect: policy.Allow, Origin: "first"}}}, p.Gates...)
		}
	})
	for name, tt := range map[string]struct {
		text     string
		compiler Compiler
		anyNames bool
		want     []string
	}{
		"as stated": {shadowed + requests + "counters: {backend/http-port: {allowed: 1, denied: 1, shadow_allowed: 0, shadow_denied: 2}, backend/tcp-port: {denied: 0}}", nil, false, nil},
		"other than stated": {shadowed + requests + "counters: {backend/http-port: {allowed: 2, denied: 3, shadow_allowed: 4, shadow_denied: 5}, backend/tcp-port: {allowed: 1}}", nil, false, []string{
			"the case wants allowed of backend/http-port to move by 2, it moved by 1",
			"the case wants denied of backend/http-port to move by 3, it moved by 1",
			"the case wants shadow_allowed of backend/http-port to move by 4, it moved by 0",
			"the case wants shadow_denied of backend/http-port to move by 5, it moved by 2",
		}},
		"by rule": {shadowed + requests + "counters: {backend/http-port: {denied: 1, rules: {" + friends + ": {allowed: 1, denied: 0, shadow_denied: 1}, default: {denied: 1, shadow_denied: 1}}}}", nil, false, nil},
		"other by rule": {shadowed + requests + "counters: {backend/http-port: {rules: {" + friends + ": {allowed: 0, shadow_denied: 2}, typo: {denied: 0}}}}", nil, false, []string{
			"the case wants allowed of " + friends + " on backend/http-port to move by 0, it moved by 1",
			"the case wants shadow_denied of " + friends + " on backend/http-port to move by 2, it moved by 1",
			`the case states counters of the rule "typo" of backend/http-port, which has the rules ["default" "` + friends + `"]`,
		}},
		"names of the compiler": {shadowed + requests + "counters: {backend/http-port: {allowed: 1, rules: {typo: {denied: 7}}}}", nil, true, nil},
		// A second filter agrees with the first. Only the counters show it.
		"not conserved": {head + requests, twice, false, []string{
			"the counters of backend/http-port moved by allowed 3, denied 1, shadow_allowed 0, shadow_denied 0; the requests add up to allowed 1, denied 1, shadow_allowed 0, shadow_denied 0",
		}},
		// A compiler with names of its own may divide the policies among several filters.
		"divided": {head + requests, twice, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Runner{Harness: sharedEnvoy.Get(t), Compiler: tt.compiler, AnyNames: tt.anyNames}.Case(t.Context(), casetest.Parse(t, tt.text))
			checkErr(t, result.Err, tt.want...)
			for _, q := range result.Requests {
				if len(q.Problems) > 0 {
					t.Errorf("%s: %q", q.From.Name, q.Problems)
				}
			}
			if len(result.Requests) != 3 || result.Passed() != (len(tt.want) == 0) {
				t.Errorf("%d requests, passed: %t", len(result.Requests), result.Passed())
			}
		})
	}
}

// The accepted form of the shadow counts allowed callers as denials; a note says so.
func TestNoteOnTheAcceptedShadow(t *testing.T) {
	t.Parallel()
	accepted := strings.Replace(precise, "precise", "accepted", 1)
	requests := "requests: [{from: [" + frontend + ", " + intruder + "], to: backend/http-port, want: allow}]\n"
	for text, want := range map[string]int{accepted + requests: 1, precise + requests: 0, shadowed + ask: 0} {
		result := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), casetest.Parse(t, text))
		if !result.Passed() || len(result.Notes) != want {
			t.Errorf("error %v, notes %q; want %d", result.Err, result.Notes, want)
		}
		for _, note := range result.Notes {
			if !strings.HasPrefix(note, "shadow_denied counts 1 of the requests that are plainly allowed") {
				t.Errorf("note %q", note)
			}
		}
	}
}

// The runner tests both claims of a version gate.
func TestGate(t *testing.T) {
	t.Parallel()
	const (
		passes = "requests: [{from: " + frontend + ", to: backend/http-port, want: allow}]\n"
		fails  = "requests: [{from: " + frontend + ", to: backend/http-port, want: deny}]\n"
		future = "envoy: {from: 99.0.0}\n"
		past   = "envoy: {before: 1.30.0}\n"
		now    = "envoy: {from: 1.30.0, before: 99.0.0}\n"
	)
	for name, tt := range map[string]struct {
		text            string
		passed          bool
		skipped, failed string
	}{
		"within its bounds it passes":     {passes + now, true, "", ""},
		"within its bounds it fails":      {fails + now, false, "", "the case wants deny"},
		"too early, and it fails":         {fails + future, false, "it holds from 99.0.0 only: ", ""},
		"too late, and it fails":          {fails + past, false, "it holds before 1.30.0 only: ", ""},
		"too early, and it passes: stale": {passes + future, false, "", "but holds from 99.0.0 only, it says: mend the gate under envoy"},
		"too late, and it passes: stale":  {passes + past, false, "", "but holds before 1.30.0 only, it says: mend the gate under envoy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), casetest.Parse(t, head+tt.text))
			if r.Passed() != tt.passed || r.Failed() != (tt.failed != "") || r.NotApplicable != (tt.skipped != "") {
				t.Errorf("passed: %t, failed: %t, not applicable: %t", r.Passed(), r.Failed(), r.NotApplicable)
			}
			if !strings.HasPrefix(r.Skipped, tt.skipped) || tt.skipped == "" && r.Skipped != "" || !strings.Contains(append(r.Failures(), "")[0], tt.failed) {
				t.Errorf("skipped %q, reason %q", r.Skipped, append(r.Failures(), "")[0])
			}
			if tt.skipped != "" && !strings.Contains(r.Skipped, "the case wants deny") {
				t.Errorf("it does not say what fails: %q", r.Skipped)
			}
		})
	}
}

// A version gate does not excuse a case that was not run.
func TestGateExcusesNoFault(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, head+"requests: [{from: "+frontend+", to: backend/http-port, want: deny}]\n")
	c.Gate = cases.Gate{From: "99.0.0"}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := (Runner{Harness: sharedEnvoy.Get(t)}).Case(ctx, c); !r.Fault || r.Skipped != "" || !r.Failed() {
		t.Errorf("%+v", r)
	}
}

func TestRule(t *testing.T) {
	t.Parallel()
	r := Runner{Harness: sharedEnvoy.Get(t)}.Case(t.Context(), casetest.Parse(t, head+`
requests:
  - {from: `+frontend+`, to: backend/http-port, want: allow}
  - {from: `+intruder+`, to: backend/http-port, want: deny}
  - {from: plaintext, to: backend/http-port, want: handshake-failure}
`))
	want := []string{"allow by " + friends + " when identity ", "deny by default: no rule matches", ""}
	for i, q := range r.Requests {
		if !strings.HasPrefix(q.Rule, want[i]) || want[i] == "" && q.Rule != "" {
			t.Errorf("request %d: rule %q, want %q", i, q.Rule, want[i])
		}
	}
	if len(r.Requests) != len(want) {
		t.Fatalf("%d requests", len(r.Requests))
	}
}

// A counter of a rule that the requests do not add up to fails the case, under the compiler's own
// names too.
func TestRulesAreConserved(t *testing.T) {
	t.Parallel()
	c := casetest.Parse(t, head+ask)
	reading, err := verdict.Read(c)
	if err != nil {
		t.Fatal(err)
	}
	place := xds.FilterPlace{Layer: policy.L7}
	sent := map[string][]evidence.Evidence{"backend/http-port": {{Log: xds.AccessLog{Filters: []xds.FilterLog{{
		FilterPlace: place, Enforced: xds.Engine{Ran: true, Verdict: policy.Verdict{Effect: policy.Allow, Origin: "mine"}},
	}}}}}}
	one := evidence.Counters{Allowed: 1}
	for rule, want := range map[string][]string{
		"mine":  nil,
		"other": {`the counters of backend/http-port moved by [filter 0 on L7, rule "other": allowed 1, denied 0, shadow_allowed 0, shadow_denied 0]; the requests add up to [filter 0 on L7, rule "mine": allowed 1,`},
	} {
		of := &run{runner: Runner{AnyNames: true}, reading: reading}
		checkErr(t, of.checkConservation(sent, map[string][]evidence.FilterCounters{"backend/http-port": {
			{FilterPlace: place, Counters: one}, {FilterPlace: place, Rule: rule, Counters: one},
		}}, of.countFindings), want...)
	}
}
