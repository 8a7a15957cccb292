package main

import (
	"encoding/json"
	"io"

	"github.com/meshproof/meshproof/harness/suite"
)

// The JSON form of a run. Keys and certificates are no part of it.
type jsonRun struct {
	Envoy   string     `json:"envoy"`
	Runtime string     `json:"runtime"`
	Passed  int        `json:"passed"`
	Failed  int        `json:"failed"`
	Skipped int        `json:"skipped"`
	Cases   []jsonCase `json:"cases"`
}

type jsonCase struct {
	Case         string                  `json:"case"`
	Story        string                  `json:"story"`
	Place        string                  `json:"place"`
	Passed       bool                    `json:"passed"`
	Error        string                  `json:"error,omitempty"`
	Milliseconds float64                 `json:"milliseconds"`
	Requests     []jsonRequest           `json:"requests"`
	Counters     map[string]jsonCounters `json:"counters,omitempty"`
	Warnings     []string                `json:"warnings,omitempty"`
	Notes        []string                `json:"notes,omitempty"`
	Again        string                  `json:"again,omitempty"`
}

type jsonRequest struct {
	From     string       `json:"from"`
	To       string       `json:"to"`
	Method   string       `json:"method,omitempty"`
	Path     string       `json:"path,omitempty"`
	GRPC     string       `json:"grpc,omitempty"`
	Want     string       `json:"want"`
	Passed   bool         `json:"passed"`
	Outcome  string       `json:"outcome"`
	By       string       `json:"by,omitempty"`
	Shadow   string       `json:"shadow"`
	ShadowBy string       `json:"shadowBy,omitempty"`
	Problems []string     `json:"problems,omitempty"`
	Evidence jsonEvidence `json:"evidence"`
}

type jsonEvidence struct {
	Caller       string   `json:"caller"`
	Upstream     *arrived `json:"upstream"`
	Log          string   `json:"log"`
	Peer         []string `json:"peer,omitempty"`
	Retries      int      `json:"retries"`
	Milliseconds float64  `json:"milliseconds"`
}

type arrived struct {
	Method string `json:"method,omitempty"`
	Path   string `json:"path,omitempty"`
	Bytes  int    `json:"bytes"`
	XFCC   string `json:"xfcc,omitempty"`
}

type jsonCounters struct {
	Allowed       uint64 `json:"allowed"`
	Denied        uint64 `json:"denied"`
	ShadowAllowed uint64 `json:"shadow_allowed"`
	ShadowDenied  uint64 `json:"shadow_denied"`
}

func writeJSON(w io.Writer, s summary, results []suite.Result) error {
	out := jsonRun{Envoy: s.version, Runtime: s.runtime.String(), Passed: s.passed, Failed: s.failed, Cases: []jsonCase{}}
	for _, r := range results {
		out.Cases = append(out.Cases, caseJSON(s, r))
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func caseJSON(s summary, r suite.Result) jsonCase {
	c := jsonCase{
		Case: r.Case.Name, Story: r.Case.Story, Place: r.Case.Place, Passed: r.Passed(),
		Milliseconds: float64(r.Took.Microseconds()) / 1000,
		Requests:     []jsonRequest{}, Counters: map[string]jsonCounters{}, Notes: r.Notes,
	}
	if r.Err != nil {
		c.Error = r.Err.Error()
	}
	if !c.Passed {
		c.Again = s.again(r.Case)
	}
	for _, w := range r.Warnings {
		c.Warnings = append(c.Warnings, w.String())
	}
	for name, counters := range r.Counters {
		c.Counters[name] = jsonCounters(counters)
	}
	for _, q := range r.Requests {
		c.Requests = append(c.Requests, requestJSON(q))
	}
	return c
}

func requestJSON(q suite.Request) jsonRequest {
	e := q.Evidence
	out := jsonRequest{
		From: q.From.Name, To: q.To, Method: q.Method, Path: q.Path, GRPC: q.GRPC, Want: q.Want.String(),
		Passed: len(q.Problems) == 0, Outcome: outcome(q), Problems: q.Problems, Shadow: "none",
		Evidence: jsonEvidence{
			Caller: e.Answer.String(), Log: e.Log.Details + e.Log.Termination + e.Log.TransportFailure, Peer: e.Log.PeerURIs,
			Retries: e.Retries, Milliseconds: float64(e.Took.Microseconds()) / 1000,
		},
	}
	if q.Finding.Judged {
		out.By = q.Finding.Verdict.Origin
	}
	if shadow := q.Finding.Shadow; shadow.Ran {
		out.Shadow, out.ShadowBy = shadow.Verdict.Effect.String(), shadow.Verdict.Origin
	}
	if a := e.Arrival; a != nil {
		out.Evidence.Upstream = &arrived{Method: a.Method, Path: a.Path, Bytes: a.Bytes, XFCC: a.XFCC()}
	}
	return out
}
