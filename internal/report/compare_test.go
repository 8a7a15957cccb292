package report_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/meshproof/meshproof/internal/golden"
	"github.com/meshproof/meshproof/internal/property"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestCompareText(t *testing.T) {
	t.Parallel()
	runs := reporttest.Matrix()
	golden.Compare(t, "compare.txt", []byte(report.Compare(runs[0], runs[1]).Text()))
	golden.Compare(t, "compare_same.txt", []byte(report.Compare(runs[0], runs[0]).Text()))
}

// TestCompareFields changes one thing at a time.
func TestCompareFields(t *testing.T) {
	t.Parallel()
	base := reporttest.NewCase("a case", "s", "1", reporttest.Allowed("/"), reporttest.Denied("/x"), reporttest.Denied("/x"))
	const first = "backend/http-port GET / as spiffe://trust-domain.mesh/ns/web/sa/web"
	const third = "backend/http-port GET /x as spiffe://trust-domain.mesh/ns/web/sa/web (2)"
	upstream := func(change func(*report.Arrived)) func(*report.Case) {
		return func(c *report.Case) {
			a := *c.Requests[0].Evidence.Upstream
			change(&a)
			c.Requests[0].Evidence.Upstream = &a
		}
	}
	for name, tt := range map[string]struct {
		change func(*report.Case)
		want   []report.Change
	}{
		"times, keys, rules, warnings": {func(c *report.Case) {
			c.Milliseconds, c.Warnings, c.Notes, c.Again, c.Source, c.Place = 9, []string{"w"}, []string{"n"}, "again", "source", "elsewhere:1"
			c.Requests[0].Evidence.Milliseconds, c.Requests[0].Evidence.Retries, c.Requests[0].Rule = 9, 2, "rule"
			upstream(func(a *report.Arrived) { a.XFCC = strings.Replace(a.XFCC, "ab12", "cd34", 1) })(c)
		}, nil},
		"status":   {reporttest.Skipped("why", true), []report.Change{{What: "status", A: "passed", B: "skipped: why"}}},
		"gated":    {reporttest.Skipped("why", false), []report.Change{{What: "status", A: "passed", B: "not applicable: why"}}},
		"error":    {func(c *report.Case) { c.Passed, c.Error = false, "e\nf" }, []report.Change{{What: "status", A: "passed", B: "failed: e"}, {What: "error", A: "none", B: "e\nf"}}},
		"fault":    {func(c *report.Case) { c.Passed, c.Error, c.Fault = false, "e", true }, []report.Change{{What: "status", A: "passed", B: "not proven: e"}, {What: "error", A: "none", B: "e"}}},
		"outcome":  {func(c *report.Case) { c.Requests[0].Outcome = "deny" }, []report.Change{{Request: first, What: "outcome", A: "allow", B: "deny"}}},
		"by":       {func(c *report.Case) { c.Requests[0].By = "" }, []report.Change{{Request: first, What: "by", A: "owner", B: "none"}}},
		"shadow":   {func(c *report.Case) { c.Requests[0].Shadow = "deny" }, []report.Change{{Request: first, What: "shadow", A: "none", B: "deny"}}},
		"shadowBy": {func(c *report.Case) { c.Requests[0].ShadowBy = "x" }, []report.Change{{Request: first, What: "shadowBy", A: "none", B: "x"}}},
		"want":     {func(c *report.Case) { c.Requests[0].Want = "close" }, []report.Change{{Request: first, What: "want", A: "allow", B: "close"}}},
		"caller":   {func(c *report.Case) { c.Requests[0].Evidence.Caller = "EOF" }, []report.Change{{Request: first, What: "caller", A: "HTTP 200", B: "EOF"}}},
		"log":      {func(c *report.Case) { c.Requests[0].Evidence.Log = "" }, []report.Change{{Request: first, What: "log", A: "via_upstream", B: ""}}},
		"peer":     {func(c *report.Case) { c.Requests[0].Evidence.Peer = []string{"a", "b"} }, []report.Change{{Request: first, What: "peer", A: "", B: "a, b"}}},
		"path":     {upstream(func(a *report.Arrived) { a.Path = "/y" }), []report.Change{{Request: first, What: "upstream", A: "GET /, 0 bytes", B: "GET /y, 0 bytes"}}},
		"bytes":    {upstream(func(a *report.Arrived) { a.Bytes = 1 }), []report.Change{{Request: first, What: "upstream", A: "GET /, 0 bytes", B: "GET /, 1 byte"}}},
		"xfcc": {upstream(func(a *report.Arrived) { a.XFCC = "" }), []report.Change{
			{Request: first, What: "xfcc", A: "By=spiffe://trust-domain.mesh/backend;URI=spiffe://trust-domain.mesh/ns/web/sa/web", B: "none"},
		}},
		"arrival": {func(c *report.Case) { c.Requests[2].Evidence.Upstream = &report.Arrived{Bytes: 5} }, []report.Change{{Request: third, What: "upstream", A: "nothing", B: "5 bytes"}}},
		"counters": {func(c *report.Case) { c.Counters = map[string]report.Counters{"other": {Denied: 1}} }, []report.Change{
			{What: "counters of backend/http-port", A: "allowed 3, denied 0, shadow_allowed 0, shadow_denied 0", B: "none"},
			{What: "counters of other", A: "none", B: "allowed 0, denied 1, shadow_allowed 0, shadow_denied 0"},
		}},
		"a request less": {func(c *report.Case) { c.Requests = c.Requests[:2] }, []report.Change{{Request: third, What: "asked", A: "yes", B: "no"}}},
		"another path":   {func(c *report.Case) { c.Requests[0].Path = "/z" }, []report.Change{{Request: first, What: "asked", A: "yes", B: "no"}, {Request: strings.Replace(first, " / ", " /z ", 1), What: "asked", A: "no", B: "yes"}}},
		"no request":     {func(c *report.Case) { c.Requests, c.Counters = nil, base.Counters }, []report.Change{{What: "asked", A: "3 requests", B: "0 requests"}}},
		"another order":  {func(c *report.Case) { slices.Reverse(c.Requests) }, []report.Change{{What: "evidence"}}},
		"a problem, in it": {func(c *report.Case) {
			c.Requests[0].Passed, c.Passed = false, false
			c.Requests[0].Problems = []string{"p"}
		}, []report.Change{{What: "status", A: "passed", B: "failed: p"}, {Request: first, What: "passed", A: "true", B: "false"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := reporttest.Changed(base, tt.change)
			want := slices.Clone(tt.want)
			for i := range want {
				want[i].Case, want[i].Place = base.Case, base.Place
				if want[i].What == "evidence" {
					want[i].A, want[i].B = base.EvidenceSHA256[:12], changed.EvidenceSHA256[:12]
				}
			}
			got := report.Compare(reporttest.NewRun("1", base), reporttest.NewRun("2", changed))
			if diff := cmp.Diff(want, got.Changed); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Empty() != (len(tt.want) == 0) {
				t.Errorf("Empty is %t", got.Empty())
			}
		})
	}
}

// A case that neither run asked is not compared, with decisions or without.
func TestCasesThatNeitherRunAsked(t *testing.T) {
	t.Parallel()
	asked := reporttest.NewCase("asked", "s", "1", reporttest.Allowed("/"))
	skipped := reporttest.Changed(reporttest.NewCase("skipped", "s", "2"), reporttest.Skipped("why", true))
	for name, tt := range map[string]struct {
		cases           []report.Case
		common, leftOut int
		want            bool
	}{
		"one is asked":  {[]report.Case{asked, skipped}, 1, 1, true},
		"none is asked": {[]report.Case{skipped}, 0, 1, false},
	} {
		all := []report.Comparison{report.Compare(reporttest.NewRun("1", tt.cases...), reporttest.NewRun("1", tt.cases...))}
		for _, decisions := range []bool{false, true} {
			judged, alike := report.Judge(all, nil, decisions)
			if alike != tt.want {
				t.Errorf("%s, decisions %t: alike %t", name, decisions, alike)
			}
			if c := judged[0]; decisions && (c.Common != tt.common || c.LeftOut != tt.leftOut) {
				t.Errorf("%s: %d in common, %d left out", name, c.Common, c.LeftOut)
			}
		}
	}
}

// TestDecisions holds that only decisions are left of a comparison.
func TestDecisions(t *testing.T) {
	t.Parallel()
	base := reporttest.NewCase("a case", "s", "1", reporttest.Allowed("/"), reporttest.Denied("/x"))
	fails := func(fault bool) func(*report.Case) {
		return func(c *report.Case) { c.Passed, c.Error, c.Fault = false, "e", fault }
	}
	for name, tt := range map[string]struct {
		change func(*report.Case)
		want   []string
	}{
		"nothing": {func(*report.Case) {}, nil},
		"outcome": {func(c *report.Case) { c.Requests[0].Outcome = "deny" }, []string{"outcome"}},
		"by and shadows": {func(c *report.Case) {
			c.Requests[0].By, c.Requests[0].Shadow, c.Requests[1].ShadowBy = "x", "deny", "y"
		}, []string{"by", "shadow", "shadowBy"}},
		"evidence":   {func(c *report.Case) { c.Requests[0].Evidence.Caller, c.Counters = "EOF", nil }, nil},
		"failed":     {fails(false), []string{"status"}},
		"not proven": {fails(true), nil},
		"skipped":    {reporttest.Skipped("why", true), nil},
		"request":    {func(c *report.Case) { c.Requests = c.Requests[:1] }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			only := reporttest.NewCase("only here", "s", "2", reporttest.Allowed("/"))
			there := report.Compare(reporttest.NewRun("1", base, only), reporttest.NewRun("1", reporttest.Changed(base, tt.change)))
			whole := len(there.Changed)
			for _, c := range []report.Comparison{there.Decisions(), report.Compare(reporttest.NewRun("1", reporttest.Changed(base, tt.change)), reporttest.NewRun("1", base, only)).Decisions()} {
				var got []string
				for _, change := range c.Changed {
					got = append(got, change.What)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || c.Empty() != (tt.want == nil) {
					t.Errorf("empty: %t (-want +got):\n%s", c.Empty(), diff)
				}
			}
			if len(there.Changed) != whole || len(there.OnlyA) != 1 {
				t.Error("the comparison itself was changed")
			}
		})
	}
}

// anyRun draws a run. There are few names and few values, so that two runs often agree.
func anyRun(t *rapid.T) report.Run {
	r := reporttest.NewRun("1.40.0")
	names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.ID[string]).Draw(t, "cases")
	for _, name := range names {
		var requests []report.Request
		for range rapid.IntRange(0, 3).Draw(t, "requests") {
			make := rapid.SampledFrom([]func(string) report.Request{reporttest.Allowed, reporttest.Denied, reporttest.Leaked}).Draw(t, "request")
			q := make(rapid.SampledFrom([]string{"/", "/x"}).Draw(t, "path"))
			q.Evidence.Milliseconds = rapid.Float64Range(0, 100).Draw(t, "time")
			requests = append(requests, q)
		}
		c := reporttest.NewCase(name, "s", "1", requests...)
		switch rapid.IntRange(0, 4).Draw(t, "status") {
		case 0:
			c = reporttest.Changed(c, reporttest.Skipped(rapid.SampledFrom([]string{"s", "t"}).Draw(t, "reason"), rapid.Bool().Draw(t, "applicable")))
		case 1:
			c = reporttest.Changed(c, func(c *report.Case) { c.Passed, c.Error, c.Fault = false, "e", rapid.Bool().Draw(t, "fault") })
		}
		r.Add(c)
	}
	return r
}

// TestCompareEmpty holds that [Compare] returns nothing if and only if all hashes and
// statuses are equal, and that the order of the two runs does not matter.
func TestCompareEmpty(t *testing.T) {
	t.Parallel()
	property.Check(t, func(t *rapid.T) {
		a, b := anyRun(t), anyRun(t)
		if !report.Compare(a, a).Empty() {
			t.Fatalf("a run differs from itself:\n%s", report.Compare(a, a).Text())
		}
		summary := func(r report.Run) map[string]string {
			out := map[string]string{}
			for _, c := range r.Cases {
				out[c.Case] = c.Status() + c.EvidenceSHA256
			}
			return out
		}
		there, back := report.Compare(a, b), report.Compare(b, a)
		if want := maps.Equal(summary(a), summary(b)); there.Empty() != want {
			t.Fatalf("Empty is %t, want %t:\n%s", there.Empty(), want, there.Text())
		}
		if len(there.Changed) != len(back.Changed) || !slices.Equal(there.OnlyA, back.OnlyB) || there.Common != back.Common {
			t.Fatalf("it is another when turned round:\n%s\n%s", there.Text(), back.Text())
		}
	})
}

func TestHostileTextIsMadeVisible(t *testing.T) {
	t.Parallel()
	const want = "a|b `c` </td><script>alert(1)</script> *d* [e](http://f) &amp; \\u0000\\u001b[31m\\u202e next ]]> \\| _g_ \ufffd"
	if got := report.Visible(reporttest.Hostile); got != want {
		t.Errorf("%q", got)
	}
}

func TestCompareAll(t *testing.T) {
	t.Parallel()
	run := func(envoy, runtime string, names ...string) report.Run {
		r := report.Run{Implementation: report.Implementation{Project: "p"}, Envoy: envoy, Runtime: runtime}
		for _, name := range names {
			r.Add(report.Case{Case: name, Passed: true})
		}
		return r
	}
	one, two, three := run("1.38.3", "process", "a"), run("1.39.3", "process", "a"), run("1.40.0", "process", "a")
	for name, tt := range map[string]struct {
		old, recent []report.Run
		compared    []string
		unpaired    []string
		err         string
	}{
		"one with one, across versions": {[]report.Run{one}, []report.Run{three}, []string{"1.38.3/1.40.0"}, nil, ""},
		"several, by version": {
			[]report.Run{one, two}, []report.Run{two, three}, []string{"1.39.3/1.39.3"},
			[]string{"new: p on Envoy 1.40.0 (process)", "gone: p on Envoy 1.38.3 (process)"}, "",
		},
		"nothing belongs together":   {[]report.Run{one, two}, []report.Run{three}, nil, nil, "name a results file each"},
		"the runtime counts":         {[]report.Run{one, two}, []report.Run{run("1.38.3", "container"), run("1.39.3", "container")}, nil, nil, "no run of one side"},
		"two of one kind, before":    {[]report.Run{one, one}, []report.Run{one, two}, nil, nil, "two runs of p on Envoy 1.38.3 (process)"},
		"two of one kind, afterward": {[]report.Run{one, two}, []report.Run{one, one}, nil, nil, "two runs of p on Envoy 1.38.3 (process)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compared, unpaired, err := report.CompareAll(tt.old, tt.recent)
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			var got []string
			for _, c := range compared {
				got = append(got, strings.Fields(c.A.Label)[0]+"/"+strings.Fields(c.B.Label)[0])
			}
			for i, label := range got {
				got[i] = strings.ReplaceAll(label, ",", "")
			}
			if diff := cmp.Diff([][]string{tt.compared, tt.unpaired}, [][]string{got, unpaired}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestJudge holds that reports are alike where cases were compared, and nothing else.
func TestJudge(t *testing.T) {
	t.Parallel()
	run := func(cases ...report.Case) report.Run { return reporttest.NewRun("1", cases...) }
	a := reporttest.NewCase("a", "s", "1", reporttest.Allowed("/"))
	b := reporttest.NewCase("b", "s", "2", reporttest.Allowed("/"))
	skipped := reporttest.Changed(a, reporttest.Skipped("why", true))
	for name, tt := range map[string]struct {
		old, recent report.Run
		unpaired    []string
		// areAlike is the answer about all that the runs have, decideAlike that about decisions alone.
		areAlike, decideAlike bool
		sentence              string
	}{
		"alike":                 {run(a, b), run(a, b), nil, true, true, "no difference in 2 cases"},
		"a run without another": {run(a), run(a), []string{"gone: x"}, false, true, "no difference in 1 case"},
		"one case in common":    {run(a), run(a, b), nil, false, true, "no difference in 1 case; not compared, because one run lacks the case or did not ask it: 1"},
		"none in common":        {run(a), run(b), nil, false, false, "nothing was compared: no case was asked in both runs; not compared, because one run lacks the case or did not ask it: 2"},
		"no case at all":        {run(), run(), nil, false, false, "nothing was compared: no case was asked in both runs"},
		"one that is skipped":   {run(a), run(skipped), nil, false, false, "nothing was compared: no case was asked in both runs; not compared, because one run lacks the case or did not ask it: 1"},
	} {
		all := []report.Comparison{report.Compare(tt.old, tt.recent)}
		_, whole := report.Judge(all, tt.unpaired, false)
		judged, decided := report.Judge(all, tt.unpaired, true)
		if whole != tt.areAlike || decided != tt.decideAlike || judged[0].Sentence() != tt.sentence {
			t.Errorf("%s: %t, %t, %q", name, whole, decided, judged[0].Sentence())
		}
	}
}
