package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/harness/suite"
	"github.com/meshproof/meshproof/policy"
)

// writeText prints a table for each story: who was allowed, who was denied, by
// which policy, and what the shadow says. What went wrong stands at the end,
// where a reader looks first.
func writeText(w io.Writer, s summary, results []suite.Result) {
	for _, story := range byStory(results) {
		writeStory(w, story)
	}
	for _, r := range results {
		if !r.Passed() {
			writeFailure(w, s, r)
		}
	}
	fmt.Fprintf(w, "%d cases passed, %d failed: %d requests on Envoy %s (%s)", s.passed, s.failed, s.decisions, s.version, s.runtime)
	if s.retries > 0 {
		fmt.Fprintf(w, ", %d transport faults retried", s.retries)
	}
	fmt.Fprintln(w)
}

// byStory groups the results by story, in the order of their first case.
func byStory(results []suite.Result) [][]suite.Result {
	var stories [][]suite.Result
	at := map[string]int{}
	for _, r := range results {
		i, ok := at[r.Case.Story]
		if !ok {
			i = len(stories)
			at[r.Case.Story] = i
			stories = append(stories, nil)
		}
		stories[i] = append(stories[i], r)
	}
	return stories
}

func writeStory(w io.Writer, results []suite.Result) {
	if story := results[0].Case.Story; story != "" {
		fmt.Fprintln(w, story)
	}
	for _, r := range results {
		fmt.Fprintf(w, " %s %s\n", mark(r.Passed()), r.Case.Name)
		t := table.NewWriter()
		t.SetOutputMirror(w)
		t.SetStyle(table.StyleLight)
		t.Style().Options = table.OptionsNoBordersAndSeparators
		t.Style().Format.Header = text.FormatDefault
		t.AppendHeader(table.Row{"", "decision", "by", "shadow", "caller", "request"})
		for _, q := range r.Requests {
			t.AppendRow(row(q))
		}
		if len(r.Requests) > 0 {
			t.Render()
		}
		for _, note := range append(warnings(r), r.Notes...) {
			fmt.Fprintf(w, "   %s\n", note)
		}
	}
	fmt.Fprintln(w)
}

func row(q suite.Request) table.Row {
	return table.Row{mark(len(q.Problems) == 0), outcome(q.Finding), by(q.Finding), shadow(q.Finding), q.From.Name, request(q)}
}

func mark(ok bool) string {
	if ok {
		return "✓"
	}
	return "✗"
}

func outcome(f evidence.Finding) string {
	switch f.Form {
	case evidence.Served:
		return "allow"
	case evidence.Refused:
		return "deny"
	case evidence.HandshakeFailed:
		return "handshake failed"
	default:
		return fmt.Sprintf("%d", f.Status)
	}
}

func by(f evidence.Finding) string {
	if !f.Judged {
		return "-"
	}
	return f.Verdict.Origin
}

func shadow(f evidence.Finding) string {
	if !f.Shadow.Ran {
		return "-"
	}
	return f.Shadow.Verdict.String()
}

func request(q suite.Request) string {
	var what string
	switch {
	case q.GRPC != "":
		what = " " + q.GRPC
	case q.Evidence.Call.Protocol.Layer() == policy.L7:
		what = " " + orElse(q.Method, "GET") + " " + orElse(q.Path, "/")
	}
	return q.To + what
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func warnings(r suite.Result) []string {
	var out []string
	for _, w := range r.Warnings {
		out = append(out, "warning: "+w.String())
	}
	return out
}

func writeFailure(w io.Writer, s summary, r suite.Result) {
	fmt.Fprintf(w, "✗ %s\n  %s\n", r.Case.Name, r.Case.Place)
	if r.Err != nil {
		for line := range strings.Lines(r.Err.Error()) {
			fmt.Fprintf(w, "  %s\n", strings.TrimSpace(line))
		}
	}
	for _, q := range r.Requests {
		if len(q.Problems) > 0 {
			writeProblems(w, q, r)
		}
	}
	fmt.Fprintf(w, "  again: %s\n\n", s.again(r.Case))
}

func writeProblems(w io.Writer, q suite.Request, r suite.Result) {
	fmt.Fprintf(w, "  %s as %s (%s)\n", request(q), q.From.Name, q.Place)
	for _, problem := range q.Problems {
		fmt.Fprintf(w, "    %s\n", problem)
	}
	if q.Judged {
		fmt.Fprintf(w, "    policies  %s\n", q.Decision.Verdict)
	}
	arrived := "nothing"
	if a := q.Evidence.Arrival; a != nil {
		arrived = strings.TrimSpace(fmt.Sprintf("%s %s, %d bytes", a.Method, a.Path, a.Bytes))
	}
	log := q.Evidence.Log
	fmt.Fprintf(w, "    caller    %s\n    upstream  %s\n    log       %s\n    counters  %s\n", q.Evidence.Answer, arrived,
		strings.TrimSpace(strings.Join([]string{engine("enforced", log.Enforced.Ran, log.Enforced.Verdict), engine("shadow", log.Shadow.Ran, log.Shadow.Verdict), log.Details, log.Termination, log.TransportFailure}, " ")),
		r.Counters[q.To])
}

func engine(name string, ran bool, v policy.Verdict) string {
	if !ran {
		return name + ": none;"
	}
	return name + ": " + v.String() + ";"
}
