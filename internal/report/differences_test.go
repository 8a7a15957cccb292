package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	const suffix = " as spiffe://trust-domain.mesh/ns/web/sa/web"
	shadowed := reporttest.Denied("/x")
	shadowed.Shadow, shadowed.ShadowBy = "allow", "audit"
	unlogged := reporttest.Allowed("/")
	unlogged.Evidence.Log = "another"
	base := reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"), reporttest.Denied("/x"))
	cell := func(request string, values ...string) report.Difference {
		return report.Difference{Case: "c", Story: "s", Place: "cases/s.yaml:1", Request: request, Values: values}
	}
	for name, tt := range map[string]struct {
		in   []*report.Case
		want []report.Difference
	}{
		"none":                   {nil, nil},
		"the same":               {[]*report.Case{&base, &base}, nil},
		"evidence, not decision": {[]*report.Case{&base, new(reporttest.NewCase("c", "s", "1", unlogged, reporttest.Denied("/x")))}, nil},
		"reasons only":           {[]*report.Case{new(reporttest.With(base, reporttest.Skipped("on 1", true))), new(reporttest.With(base, reporttest.Skipped("on 2", true)))}, nil},
		"a request": {
			[]*report.Case{&base, new(reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"), reporttest.Allowed("/x"))), new(reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"), shadowed))},
			[]report.Difference{cell("backend/http-port GET /x"+suffix, "deny by operator", "allow by owner", "deny by operator; shadow allow by audit")},
		},
		"a case that is not there": {[]*report.Case{nil, &base, &base}, []report.Difference{cell("", "", "passed", "passed")}},
		"a case that was not run": {
			[]*report.Case{&base, new(reporttest.With(reporttest.NewCase("c", "s", "1"), reporttest.Skipped("why", true)))},
			[]report.Difference{cell("", "passed", "skipped: why")},
		},
		"a case that failed": {
			[]*report.Case{&base, new(reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"), reporttest.Leaked("/x")))},
			[]report.Difference{
				cell("", "passed", "failed: the case wants deny, Envoy says served (allow by owner)"),
				cell("backend/http-port GET /x"+suffix, "deny by operator", "allow by owner"),
			},
		},
		"a request that is not there": {
			[]*report.Case{&base, new(reporttest.NewCase("c", "s", "1", reporttest.Allowed("/")))},
			[]report.Difference{cell("backend/http-port GET /x"+suffix, "deny by operator", "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []report.Run
			for _, c := range tt.in {
				r := reporttest.NewRun("1")
				if c != nil {
					r.Add(*c)
				}
				runs = append(runs, r)
			}
			if diff := cmp.Diff(tt.want, report.Differences(runs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecision(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]report.Request{
		"handshake failed":                     {Outcome: "handshake failed", Shadow: "none"},
		"allow by owner":                       {Outcome: "allow", By: "owner", Shadow: "none"},
		"deny; shadow allow":                   {Outcome: "deny", Shadow: "allow"},
		"allow by owner; shadow deny by audit": {Outcome: "allow", By: "owner", Shadow: "deny", ShadowBy: "audit"},
	} {
		if got := q.Decision(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAsking(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]report.Request{
		"a/80 as x":        {From: "x", To: "a/80"},
		"a/80 GET /p as x": {From: "x", To: "a/80", Path: "/p"},
		"a/80 PUT / as x":  {From: "x", To: "a/80", Method: "PUT"},
		"a/80 S/M as x":    {From: "x", To: "a/80", GRPC: "S/M"},
		"a/80 GET / as x with host: h, x-one: two": {From: "x", To: "a/80", Method: "GET", Header: []string{"host: h", "x-one: two"}},
	} {
		asked := report.Askings(report.Case{Requests: []report.Request{q, q}})
		if asked[0].String() != want || asked[1].String() != want+" (2)" {
			t.Errorf("%q, %q, want %q", asked[0], asked[1], want)
		}
	}
}
