package page

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshproof/meshproof/internal/feature"
	"github.com/meshproof/meshproof/internal/report"
	"github.com/meshproof/meshproof/internal/report/reporttest"
)

func TestPageVerdict(t *testing.T) {
	t.Parallel()
	good := reporttest.NewCase("a", "s", "1", reporttest.Allowed("/"))
	bad := reporttest.NewCase("b", "s", "2", reporttest.Leaked("/"))
	gated := reporttest.Changed(bad, reporttest.Skipped("it holds from 1.39.3 only", false))
	for name, tt := range map[string]struct {
		runs []report.Run
		want string
	}{
		"one run":      {[]report.Run{reporttest.NewRun("1.40.0", good)}, "✓ 1 case on Envoy 1.40.0: 1 passed"},
		"alike":        {[]report.Run{reporttest.NewRun("1.38.3", good, gated), reporttest.NewRun("1.40.0", good, gated)}, "✓ 2 cases on 2 versions of Envoy: 1 passed, 1 not applicable on each"},
		"unlike":       {[]report.Run{reporttest.NewRun("1.38.3", good, gated), reporttest.NewRun("1.40.0", good, bad)}, "✗ 2 cases on 2 versions of Envoy: 2 passed, 1 failed, 1 not applicable of 4 results"},
		"one version":  {[]report.Run{reporttest.NewRun("1.40.0", good), reporttest.NewRun("1.40.0", good)}, "✓ 1 case in 2 runs: 1 passed on each"},
		"nothing run":  {[]report.Run{reporttest.NewRun("1.40.0")}, "– 0 cases on Envoy 1.40.0: none"},
		"nothing held": {[]report.Run{reporttest.NewRun("1.40.0", gated)}, "n/a 1 case on Envoy 1.40.0: 1 not applicable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newView(tt.runs)
			if got := v.Result.Sign() + " " + v.Verdict; got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Facts that all runs share are shown once, and other facts for each run.
func TestPageFacts(t *testing.T) {
	t.Parallel()
	a, b := reporttest.NewRun("1.40.0"), reporttest.NewRun("1.40.0")
	b.Implementation.Project, b.ClassesProven, b.MutationScore = "istio", &report.Classes{Proven: 1200, Of: 1200}, &report.Score{Killed: 41, Of: 42}
	v := newView([]report.Run{a, b})
	if diff := cmp.Diff([]string{"Compiler", "Request classes proven", "Seeded faults found"}, v.Columns); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"istio 2.13.0 by kumahq", "1,200 of 1,200, regular expressions sampled", "41 of 42"}, v.Runs[1].More); diff != "" {
		t.Error(diff)
	}
	want := []fact{{Name: "Tested with", Text: "meshproof v1.0.0"}, {Name: "Date", Text: "2026-11-21 18:00 UTC"}, {Name: "Runtime", Text: "process"}, {Name: "Profiles", Text: "KUMA-MTP, GEP-3779"}}
	if diff := cmp.Diff(want, v.Facts); diff != "" {
		t.Error(diff)
	}
}

// Stories are in the order of the registry, and each has its description.
func TestPageStories(t *testing.T) {
	t.Parallel()
	of := func(story string, features ...feature.Name) report.Case {
		return reporttest.Changed(reporttest.NewCase(story, story, "1"), func(c *report.Case) { c.Features = features })
	}
	v := newView([]report.Run{reporttest.NewRun("1.40.0",
		of("ports", "AuthorizationPolicyNetworkEnforcement", "AuthorizationPolicyPorts"), of("rules", "AuthorizationPolicyNetworkEnforcement"),
		of("vague", "MeshOperator2", "ServiceOwner1", "ServiceOwner3", "MTPShadow"), of("none"), of("second", "MeshOperator2"), of("first", "MeshOperator1", "MTPShadow"),
	)})
	var got []string
	for _, p := range v.Profiles {
		for _, s := range p.Stories {
			got = append(got, p.Name+" | "+s.Name+" | "+s.Sentence)
		}
	}
	want := []string{
		"KUMA-MTP | first | All requests in the mesh are denied by default.",
		"KUMA-MTP | second | A deny of the mesh operator cannot be overridden by a service owner.",
		"KUMA-MTP | vague | ",
		"GEP-3779 | ports | Ports narrow a rule.",
		"GEP-3779 | rules | A refusal closes the connection, on inbounds of HTTP too.",
		"No profile | none | ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// draw prints the truth tables of a case, with a line for each caller or request.
func draw(c *caseView) string {
	var b strings.Builder
	for _, g := range c.Groups {
		b.WriteString("on [" + g.RunNames + "]\n")
		if g.Table == nil {
			continue
		}
		for i, caller := range g.Table.Callers {
			b.WriteString(caller + ":")
			for _, cells := range g.Table.Row(i) {
				b.WriteString(" [")
				for _, c := range cells {
					b.WriteString(c.Sign + c.Shadow)
					for sign, set := range map[string]bool{"!": c.Wrong && !c.Gated, "◌": c.Gated} {
						if set {
							b.WriteString(sign)
						}
					}
					if c.Differs {
						b.WriteString("≠")
					}
				}
				b.WriteString("]")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestPageTruthTable(t *testing.T) {
	t.Parallel()
	from := func(caller string, q report.Request) report.Request { q.From = caller; return q }
	outcome := func(o string) report.Request { q := reporttest.Denied("/s"); q.Outcome = o; return q }
	shadowed := reporttest.Allowed("/shadow")
	shadowed.Shadow = "deny"
	base := reporttest.NewCase("c", "s", "1", reporttest.Allowed("/a"), reporttest.Denied("/b"))
	for name, tt := range map[string]struct {
		runs []report.Case
		want string
	}{
		"signs": {[]report.Case{reporttest.NewCase("c", "s", "1", outcome("400"), shadowed, from("plaintext", outcome("handshake failed")), from("anonymous", outcome("unproven")))},
			"on []\nspiffe://trust-domain.mesh/ns/web/sa/web: [400] [✓◐✗]\nplaintext: [TLS] []\nanonymous: [?] []\n"},
		"wrong":           {[]report.Case{reporttest.NewCase("c", "s", "1", reporttest.Leaked("/a"))}, "on []\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓!]\n"},
		"gated":           {[]report.Case{reporttest.Changed(reporttest.NewCase("c", "s", "1", reporttest.Leaked("/a")), reporttest.Skipped("later", false))}, "on []\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓◌]\n"},
		"asked twice":     {[]report.Case{reporttest.NewCase("c", "s", "1", reporttest.Allowed("/a"), reporttest.Allowed("/a"))}, "on []\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓✓]\n"},
		"runs agree":      {[]report.Case{base, base}, "on []\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓] [✗]\n"},
		"runs differ":     {[]report.Case{base, reporttest.NewCase("c", "s", "1", reporttest.Allowed("/a"), reporttest.Leaked("/b")), base}, "on [v0 and v2]\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓] [✗≠]\non [v1]\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓] [✓!≠]\n"},
		"nothing asked":   {[]report.Case{reporttest.NewCase("c", "s", "1")}, "on []\n"},
		"one asked later": {[]report.Case{reporttest.NewCase("c", "s", "1", reporttest.Allowed("/a")), reporttest.NewCase("c", "s", "1", reporttest.Allowed("/a"), from("x", reporttest.Allowed("/b")))}, "on [v0]\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓] []\nx: [] []\non [v1]\nspiffe://trust-domain.mesh/ns/web/sa/web: [✓] []\nx: [] [✓]\n"},
		"shared evidence": {[]report.Case{reporttest.NewCase("c", "s", "1", from("spiffe://a/x", reporttest.Allowed("/")), from("spiffe://a/y", reporttest.Denied("/")), from("spiffe://b/x", reporttest.Denied("/")))}, "on []\n…/x: [✓]\n…/y: [✗]\nspiffe://b/x: [✗]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []report.Run
			for i, c := range tt.runs {
				runs = append(runs, reporttest.NewRun("v"+strconv.Itoa(i), c))
			}
			c := newView(runs).Profiles[0].Stories[0].Cases[0]
			if diff := cmp.Diff(tt.want, draw(c)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A table turns its rows and columns if that makes it easier to read.
func TestPageTableTurns(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		callers, requests int
		turned, upright   bool
	}{
		"few":            {3, 5, false, false},
		"one caller":     {1, 6, true, false},
		"many requests":  {3, 40, true, true},
		"many callers":   {14, 3, false, false},
		"more callers":   {14, 9, false, true},
		"more requests":  {9, 14, true, true},
		"as many of all": {9, 9, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests []report.Request
			for i := range tt.callers {
				for j := range tt.requests {
					q := reporttest.Allowed("/" + strconv.Itoa(j))
					q.From = strconv.Itoa(i)
					requests = append(requests, q)
				}
			}
			table := newView([]report.Run{reporttest.NewRun("1.40.0", reporttest.NewCase("c", "s", "1", requests...))}).Profiles[0].Stories[0].Cases[0].Groups[0].Table
			if table.Turned != tt.turned || table.Upright != tt.upright {
				t.Errorf("turned %t, upright %t, want %t, %t", table.Turned, table.Upright, tt.turned, tt.upright)
			}
		})
	}
}

func TestPageAsk(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]report.Request{
		"GET /":                         {To: "http"},
		"POST /, host: a, x-b: c":       {To: "http", Method: "POST", Header: []string{"host: a", "x-b: c"}},
		"GET /x":                        {To: "http", Path: "/x"},
		"gRPC orders.Orders/List, a: b": {To: "grpc", GRPC: "orders.Orders/List", Header: []string{"a: b"}},
		"connect":                       {To: "tcp"},
		"request":                       {},
	} {
		if got := askText(q, q.To); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPageIDs(t *testing.T) {
	t.Parallel()
	ids := idSet{"main": true}
	var got []string
	for _, text := range []string{"Main", "a  B/c", "a b c", "é ~", "", "--x--", "e1_2", "1.40.0 (kuma)"} {
		got = append(got, ids.take(text))
	}
	if diff := cmp.Diff([]string{"main-2", "a-b-c", "a-b-c-2", "unnamed", "unnamed-2", "x", "e1_2", "1.40.0-kuma"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPageAgain(t *testing.T) {
	t.Parallel()
	again := func(commands ...string) []string {
		var runs []report.Run
		var cases []*report.Case
		for i, command := range commands {
			runs = append(runs, report.Run{Envoy: []string{"1.38.3", "1.40.0", "1.40.0"}[i]})
			if command != "absent" {
				cases = append(cases, &report.Case{Again: command})
			} else {
				cases = append(cases, nil)
			}
		}
		return againCommands(runs, cases)
	}
	for name, tt := range map[string]struct{ got, want []string }{
		"by version":  {again("run --envoy 1.38.3 --case x", "run --envoy 1.40.0 --case x"), []string{"run --envoy 1.38.3,1.40.0 --case x"}},
		"at the end":  {again("run --envoy 1.38.3", "run --envoy 1.40.0", "run --envoy 1.40.0"), []string{"run --envoy 1.38.3,1.40.0"}},
		"by compiler": {again("run --envoy 1.38.3", "run --envoy 1.40.0", "run --compiler x --envoy 1.40.0"), []string{"run --envoy 1.38.3,1.40.0", "run --compiler x --envoy 1.40.0"}},
		"no version":  {again("run", "run"), []string{"run"}},
		"none":        {again("", "absent"), nil},
	} {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// Cases that a command generates have the name of the command, and belong to no profile.
func TestPageLabs(t *testing.T) {
	t.Parallel()
	lab := func(name, story string) report.Case {
		return reporttest.Changed(reporttest.NewCase(name, story, "1", reporttest.Allowed("/")), func(c *report.Case) { c.Features = []feature.Name{"MeshOperator4"} })
	}
	proof := reporttest.NewRun("1.40.0", lab("a", "proof"), lab("b", "proof"))
	proof.Profiles, proof.ClassesProven = nil, &report.Classes{Proven: 1200, Of: 1201, Complete: true}
	for name, tt := range map[string]struct {
		run                     report.Run
		title, heading, verdict string
		profiles                []string
	}{
		"proof":  {proof, "proof", "Results", "2 cases on Envoy 1.40.0: 2 passed, 1,200 of 1,201 request classes proven", []string{"Proofs"}},
		"diff":   {reporttest.NewRun("1.40.0", lab("a (old)", "diff")), "diff", "Results", "1 case on Envoy 1.40.0: 1 passed", []string{"Changes"}},
		"verify": {reporttest.NewRun("1.40.0", lab("a", "verify")), "verify", "Results", "1 case on Envoy 1.40.0: 1 passed", []string{"Sidecars"}},
		"both":   {reporttest.NewRun("1.40.0", lab("a", "proof"), lab("b", "mesh-operator-4")), "conformance", "User stories", "2 cases on Envoy 1.40.0: 2 passed", []string{"KUMA-MTP", "Proofs"}},
		"none":   {reporttest.NewRun("1.40.0"), "conformance", "User stories", "0 cases on Envoy 1.40.0: none", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newView([]report.Run{tt.run})
			var profiles []string
			for _, p := range v.Profiles {
				profiles = append(profiles, p.Name)
			}
			if diff := cmp.Diff([]any{tt.title, tt.heading, tt.verdict, tt.profiles}, []any{v.Title, v.Heading, v.Verdict, profiles}); diff != "" {
				t.Error(diff)
			}
			for _, s := range v.Profiles {
				for _, s := range s.Stories {
					if l, ok := findLab(s.Name); ok && s.Sentence != l.sentence {
						t.Errorf("%s is about %q", s.Name, s.Sentence)
					}
				}
			}
		})
	}
}

// Texts that differ only in the Envoy of their run are one; a run alone says which.
func TestPageNotes(t *testing.T) {
	t.Parallel()
	gate := "it holds from 1.39.3 only; on Envoy %s: the case wants deny"
	for name, tt := range map[string]struct {
		reasons [3]string
		want    []note
	}{
		"alike":       {[3]string{"old", "old", "old"}, []note{{Text: "old"}}},
		"by version":  {[3]string{fmt.Sprintf(gate, "1.37.0"), fmt.Sprintf(gate, "1.38.3")}, []note{{Text: "it holds from 1.39.3 only; on this Envoy: the case wants deny", RunNames: "1.37.0 and 1.38.3"}}},
		"one alone":   {[3]string{fmt.Sprintf(gate, "1.37.0")}, []note{{Text: "it holds from 1.39.3 only; on Envoy 1.37.0: the case wants deny", RunNames: "1.37.0"}}},
		"another too": {[3]string{fmt.Sprintf(gate, "1.37.0"), "Envoy 1.37.0 is old", fmt.Sprintf(gate, "1.40.0")}, []note{{Text: "it holds from 1.39.3 only; on this Envoy: the case wants deny", RunNames: "1.37.0 and 1.40.0"}, {Text: "Envoy 1.37.0 is old", RunNames: "1.38.3"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs []report.Run
			var labels []string
			var cases []*report.Case
			for i, version := range []string{"1.37.0", "1.38.3", "1.40.0"} {
				runs, labels, cases = append(runs, report.Run{Envoy: version}), append(labels, version), append(cases, &report.Case{Skipped: tt.reasons[i]})
			}
			got := collectNotes("", runs, labels, cases, func(c *report.Case) []string { return textList(c.Skipped, true) })
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A link to evidence stays valid when cases, requests and runs are added.
func TestPageEvidenceIDsStay(t *testing.T) {
	t.Parallel()
	ids := func(runs ...report.Run) map[string]string {
		out := map[string]string{}
		for _, p := range newView(runs).Profiles {
			for _, s := range p.Stories {
				for _, c := range s.Cases {
					for _, e := range c.Evidence {
						out[c.Name+" "+e.Asked+" "+e.Outcome] = e.ID
					}
				}
			}
		}
		return out
	}
	before := ids(reporttest.NewRun("1.40.0", reporttest.NewCase("a", "s", "1", reporttest.Allowed("/x"), reporttest.Denied("/y"))))
	after := ids(
		reporttest.NewRun("1.40.0", reporttest.NewCase("new", "r", "1", reporttest.Allowed("/x")), reporttest.NewCase("a", "s", "1", reporttest.Denied("/w"), reporttest.Allowed("/x"), reporttest.Denied("/y"))),
		reporttest.NewRun("1.41.0", reporttest.NewCase("a", "s", "1", reporttest.Denied("/x"))),
	)
	if len(before) != 2 || len(after) != 5 {
		t.Fatalf("there are %v and %v", before, after)
	}
	seen := map[string]bool{}
	for _, id := range after {
		seen[id] = true
	}
	if len(seen) != len(after) {
		t.Errorf("IDs appear twice in %v", after)
	}
	for what, id := range before {
		if after[what] != id {
			t.Errorf("%s was %s, is %s", what, id, after[what])
		}
	}
}
