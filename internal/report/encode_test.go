package report_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/junit"
	"github.com/meshproof/meshproof/internal/report/markdown"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	whole := reporttest.Matrix()[0]
	text := func(from, to string) func() []byte {
		return func() []byte {
			data := reporttest.ResultsFile(t, whole)
			if !bytes.Contains(data, []byte(from)) {
				t.Fatalf("the file does not have %q", from)
			}
			return bytes.Replace(data, []byte(from), []byte(to), 1)
		}
	}
	change := func(change func(*report.Run)) func() []byte {
		return func() []byte {
			r := whole
			r.Cases = append([]report.Case{}, r.Cases...)
			change(&r)
			return reporttest.ResultsFile(t, r)
		}
	}
	for name, tt := range map[string]struct {
		data func() []byte
		want string
	}{
		"no JSON":                {func() []byte { return []byte("\x00") }, "not a results file: no JSON: invalid character"},
		"cut off":                {func() []byte { return reporttest.ResultsFile(t, whole)[:500] }, "unexpected EOF: name a file results-VERSION.json as run --report wrote it"},
		"null":                   {func() []byte { return []byte("null") }, "not a results file"},
		"a field of later":       {text(`"runtime"`, `"later": 1, "runtime"`), `maybe of a newer one: json: unknown field "later"`},
		"a feature of later":     {text(`"MTPPath"`, `"MTPLater"`), `maybe of a newer one: feature "MTPLater" is unknown`},
		"a profile of later":     {text(`"KUMA-MTP"`, `"LATER"`), `maybe of a newer one: profile "LATER" is unknown`},
		"another run behind":     {func() []byte { return append(reporttest.ResultsFile(t, whole), '{') }, "something follows the run"},
		"a wrong type":           {text(`"passed": 3`, `"passed": "3"`), "cannot unmarshal"},
		"no such shard":          {change(func(r *report.Run) { r.Shard = "3/2" }), `shard "3/2": the parts are 1 to 2`},
		"an outcome was changed": {text(`"outcome": "deny"`, `"outcome": "allow"`), `case "a prefix ends at a segment": its evidence has the hash`},
		"another Envoy":          {text(`"envoy": "`+whole.Envoy+`"`, `"envoy": "9.9.9"`), "what ran, and its evidence, has the hash"},
		"another binary":         {text(`"runtime": "`, `"envoySHA256": "00", "runtime": "`), "what ran, and its evidence, has the hash"},
		"another runtime":        {text(`"runtime": "`, `"runtime": "not `), "what ran, and its evidence, has the hash"},
		"another compiler":       {text(`"project": "`, `"project": "not `), "what ran, and its evidence, has the hash"},
		"another meshproof":      {text(`"meshproof": "`, `"meshproof": "not `), "what ran, and its evidence, has the hash"},
		"no hash of the run": {func() []byte {
			data := reporttest.ResultsFile(t, whole)
			from := bytes.LastIndex(data, []byte(`"evidenceSHA256": "`)) + len(`"evidenceSHA256": "`)
			return append(data[:from:from], data[from+64:]...)
		}, "what ran, and its evidence, has the hash"},
		"a case was taken away": {change(func(r *report.Run) { r.Cases = r.Cases[1:] }), "it says that 3 cases passed, 0 failed and 2 were skipped, but of its cases 2, 0 and 2 did"},
		"a case twice":          {change(func(r *report.Run) { r.Add(r.Cases[0]) }), `case "a prefix ends at a segment": its name stands there twice`},
		"a case without a name": {change(func(r *report.Run) { r.Add(report.Case{Passed: true}) }), `case "": its name`},
		"a failure made a pass": {change(func(r *report.Run) {
			c := r.Cases[1]
			c.Case, c.Passed, c.Skipped, c.NotApplicable = "x", true, "", false
			r.Add(reporttest.Changed(c, func(*report.Case) {}))
		}), `case "x": it passed, it says, but`},
		"a pass made a failure": {change(func(r *report.Run) { r.Add(report.Case{Case: "x"}) }), `case "x": it failed, it says, but`},
		"an error, and passed": {change(func(r *report.Run) {
			r.Add(reporttest.Changed(report.Case{Case: "x", Passed: true, Error: "e"}, func(*report.Case) {}))
		}), `case "x": it passed, it says, but`},
		"wrong filters, and passed": {change(func(r *report.Run) {
			r.Add(report.Case{Case: "x", Passed: true, Examination: &report.Examination{Wrong: []string{"w"}}})
		}), `case "x": it passed, it says, but`},
		"unread filters, and passed": {change(func(r *report.Run) {
			r.Add(report.Case{Case: "x", Passed: true, Examination: &report.Examination{Unread: []string{"w"}}})
		}), `case "x": it passed, it says, but`},
		"wrong sets, and passed": {change(func(r *report.Run) {
			r.Add(report.Case{Case: "x", Passed: true, Drawn: &report.Drawn{Problems: []string{"w"}}})
		}), `case "x": it passed, it says, but`},
		"held against wants alone": {text(`"passed": true`, `"passed": true, "wantsOnly": "w"`), "what ran, and its evidence, has the hash"},
		"examined classes":         {text(`"passed": true`, `"passed": true, "examination": {"classes": 9, "asked": 9}`), "what ran, and its evidence, has the hash"},
		"drawn sets":               {text(`"passed": true`, `"passed": true, "drawn": {"seed": 1, "sets": 9, "decisions": 9, "again": 0, "others": 0}`), "what ran, and its evidence, has the hash"},
		"another story":            {text(`"story": "`, `"story": "not `), "what ran, and its evidence, has the hash"},
		"another line":             {text(`"place": "`, `"place": "x.yaml:1 `), "what ran, and its evidence, has the hash"},
		"another feature":          {text(`"MTPPath"`, `"RouteOrder"`), "what ran, and its evidence, has the hash"},
		"another advisory":         {text(`"passed": true`, `"advisory": {"id": "a", "product": "b", "loses": "c"}, "passed": true`), "what ran, and its evidence, has the hash"},
		"another note":             {text(`"passed": true`, `"notes": ["n"], "passed": true`), "what ran, and its evidence, has the hash"},
		"another warning":          {text(`"passed": true`, `"warnings": ["w"], "passed": true`), "what ran, and its evidence, has the hash"},
		"another source":           {text(`"passed": true`, `"source": "s", "passed": true`), "what ran, and its evidence, has the hash"},
		"another rule":             {text(`"outcome": "`, `"rule": "r", "outcome": "`), "what ran, and its evidence, has the hash"},
		"skipped, and passed":      {change(func(r *report.Run) { r.Add(report.Case{Case: "x", Passed: true, Skipped: "s"}) }), `case "x": it passed, it says, but`},
		"not applicable, but run":  {change(func(r *report.Run) { r.Add(report.Case{Case: "x", Passed: true, NotApplicable: true}) }), `case "x": it is not applicable, but was not skipped`},
		"problems taken away": {
			change(func(r *report.Run) {
				r.Add(reporttest.Changed(reporttest.NewCase("x", "s", "1", reporttest.Leaked("/")), func(c *report.Case) { c.Requests[0].Problems = nil }))
			}),
			`case "x": requests[0]: passed is false, with 0 problems`,
		},
		"a time that is none":           {change(func(r *report.Run) { r.Milliseconds = -1 }), "it took -1 ms, it says"},
		"a time of a case that is none": {change(func(r *report.Run) { r.Add(report.Case{Case: "x", Passed: true, Milliseconds: 1e300}) }), `case "x": it took 1e+300 ms`},
		"a time of a request that is none": {
			change(func(r *report.Run) {
				r.Add(reporttest.Changed(reporttest.NewCase("x", "s", "1", reporttest.Allowed("/")), func(c *report.Case) { c.Requests[0].Evidence.Milliseconds = -3 }))
			}),
			`case "x": requests[0]: it took -3 ms`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := report.Decode(tt.data()); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %q in one line", err, tt.want)
			}
		})
	}
}

// A run has one hash on every machine: the folders of places, times, dates and commands are no part of it.
func TestHashLastsOnEveryMachine(t *testing.T) {
	t.Parallel()
	hash := func(folder, took string) string {
		c := reporttest.NewCase("a", "s", "1", reporttest.Allowed("/"))
		c.Place, c.Again = folder+"a.yaml:3", "meshproof run "+folder+"a.yaml"
		c.Warnings, c.Notes = []string{folder + "p.yaml:7: spec: w"}, []string{"the slowest refusal took " + took}
		var r struct{ EvidenceSHA256 string }
		if err := json.Unmarshal(reporttest.ResultsFile(t, reporttest.NewRun("1.40.0", c)), &r); err != nil {
			t.Fatal(err)
		}
		return r.EvidenceSHA256
	}
	if here, there := hash("/home/me/x/", "1.2 s"), hash("p/", "0.3 s"); here != there {
		t.Errorf("the hashes are %s and %s", here, there)
	}
}

// TestDecodeTakesWhatMarshalWrites covers texts that JSON does not keep as they are.
func TestDecodeTakesWhatMarshalWrites(t *testing.T) {
	t.Parallel()
	odd := reporttest.NewRun("1.40.0", reporttest.NewCase("<&>\u2028", "s", "1", reporttest.Allowed("/\u00e4\ufffd<"), reporttest.Denied("/\x00")))
	got, err := report.Decode(reporttest.ResultsFile(t, odd))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(odd, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzLoad holds that no input makes the reader panic, and that an accepted run can be
// written, read again and drawn.
func FuzzLoad(f *testing.F) {
	for _, r := range reporttest.Matrix() {
		f.Add(reporttest.ResultsFile(f, r))
	}
	f.Add([]byte(`{"meshproof":"a","envoy":"b"}`))
	f.Add([]byte(`{"meshproof":"a","envoy":"b","shard":"1/2","failed":1,"cases":[{"case":"c","error":"e","evidenceSHA256":"00"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := report.Decode(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := report.Decode(text)
		if err != nil {
			t.Fatalf("what was taken is refused when written again: %v\n%s", err, text)
		}
		if !report.Compare(r, again).Empty() || len(report.Differences([]report.Run{r, again})) > 0 {
			t.Errorf("it differs when read again: %s", report.Compare(r, again).Text())
		}
		for _, draw := range []func(io.Writer, []report.Run) error{junit.Write, markdown.Write} {
			if err := draw(io.Discard, []report.Run{r, again}); err != nil {
				t.Error(err)
			}
		}
	})
}

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
		cases []*report.Case
		want  []report.Difference
	}{
		"none":                   {nil, nil},
		"the same":               {[]*report.Case{&base, &base}, nil},
		"evidence, not decision": {[]*report.Case{&base, new(reporttest.NewCase("c", "s", "1", unlogged, reporttest.Denied("/x")))}, nil},
		"reasons only":           {[]*report.Case{new(reporttest.Changed(base, reporttest.Skipped("on 1", true))), new(reporttest.Changed(base, reporttest.Skipped("on 2", true)))}, nil},
		"a request": {
			[]*report.Case{&base, new(reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"), reporttest.Allowed("/x"))), new(reporttest.NewCase("c", "s", "1", reporttest.Allowed("/"), shadowed))},
			[]report.Difference{cell("backend/http-port GET /x"+suffix, "deny by operator", "allow by owner", "deny by operator; shadow allow by audit")},
		},
		"a case that is not there": {[]*report.Case{nil, &base, &base}, []report.Difference{cell("", "", "passed", "passed")}},
		"a case that was not run": {
			[]*report.Case{&base, new(reporttest.Changed(reporttest.NewCase("c", "s", "1"), reporttest.Skipped("why", true)))},
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
			for _, c := range tt.cases {
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

func TestTextOfARequest(t *testing.T) {
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
