package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	t.Parallel()
	const suffix = " as spiffe://trust-domain.mesh/ns/web/sa/web"
	shadowed := denied("/x")
	shadowed.Shadow, shadowed.ShadowBy = "allow", "audit"
	unlogged := allowed("/")
	unlogged.Evidence.Log = "another"
	base := newCase("c", "s", "1", allowed("/"), denied("/x"))
	cell := func(request string, values ...string) Difference {
		return Difference{Case: "c", Story: "s", Place: "cases/s.yaml:1", Request: request, Values: values}
	}
	for name, tt := range map[string]struct {
		in   []*Case
		want []Difference
	}{
		"none":                   {nil, nil},
		"the same":               {[]*Case{&base, &base}, nil},
		"evidence, not decision": {[]*Case{&base, new(newCase("c", "s", "1", unlogged, denied("/x")))}, nil},
		"reasons only":           {[]*Case{new(base.with(skipped("on 1", true))), new(base.with(skipped("on 2", true)))}, nil},
		"a request": {
			[]*Case{&base, new(newCase("c", "s", "1", allowed("/"), allowed("/x"))), new(newCase("c", "s", "1", allowed("/"), shadowed))},
			[]Difference{cell("backend/http-port GET /x"+suffix, "deny by operator", "allow by owner", "deny by operator; shadow allow by audit")},
		},
		"a case that is not there": {[]*Case{nil, &base, &base}, []Difference{cell("", "", "passed", "passed")}},
		"a case that was not run": {
			[]*Case{&base, new(newCase("c", "s", "1").with(skipped("why", true)))},
			[]Difference{cell("", "passed", "skipped: why")},
		},
		"a case that failed": {
			[]*Case{&base, new(newCase("c", "s", "1", allowed("/"), leaked("/x")))},
			[]Difference{
				cell("", "passed", "failed: the case wants deny, Envoy says served (allow by owner)"),
				cell("backend/http-port GET /x"+suffix, "deny by operator", "allow by owner"),
			},
		},
		"a request that is not there": {
			[]*Case{&base, new(newCase("c", "s", "1", allowed("/")))},
			[]Difference{cell("backend/http-port GET /x"+suffix, "deny by operator", "")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []Run
			for _, c := range tt.in {
				r := newRun("1")
				if c != nil {
					r.Add(*c)
				}
				runs = append(runs, r)
			}
			if diff := cmp.Diff(tt.want, Differences(runs)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecision(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]Request{
		"handshake failed":                     {Outcome: "handshake failed", Shadow: "none"},
		"allow by owner":                       {Outcome: "allow", By: "owner", Shadow: "none"},
		"deny; shadow allow":                   {Outcome: "deny", Shadow: "allow"},
		"allow by owner; shadow deny by audit": {Outcome: "allow", By: "owner", Shadow: "deny", ShadowBy: "audit"},
	} {
		if got := q.decision(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAsking(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]Request{
		"a/80 as x":        {From: "x", To: "a/80"},
		"a/80 GET /p as x": {From: "x", To: "a/80", Path: "/p"},
		"a/80 PUT / as x":  {From: "x", To: "a/80", Method: "PUT"},
		"a/80 S/M as x":    {From: "x", To: "a/80", GRPC: "S/M"},
		"a/80 GET / as x with host: h, x-one: two": {From: "x", To: "a/80", Method: "GET", Header: []string{"host: h", "x-one: two"}},
	} {
		asked := askings(Case{Requests: []Request{q, q}})
		if asked[0].String() != want || asked[1].String() != want+" (2)" {
			t.Errorf("%q, %q, want %q", asked[0], asked[1], want)
		}
	}
}
