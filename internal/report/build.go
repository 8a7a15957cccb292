package report

import (
	"errors"
	"strconv"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/token"
)

// Build makes the case of a report from the result of a case. It has no keys and no
// certificates.
func Build(r result.Case) Case {
	c := Case{
		Case: r.Case.Name, Story: r.Case.Story, Place: r.Case.Place, Features: r.Case.Features, Source: r.Case.Source,
		Passed: r.Passed(), Skipped: r.Skipped, NotApplicable: r.NotApplicable, Fault: r.Fault,
		Milliseconds: milliseconds(r.Took), Requests: []Request{}, Notes: r.Notes,
	}
	if r.Err != nil {
		c.Error = r.Err.Error()
	}
	c.Examination, c.Drawn = (*Examination)(r.Examination), (*Drawn)(r.Drawn)
	c.WantsOnly = r.WantsOnly
	if a := r.Case.Advisory; a != nil {
		c.Advisory = &Advisory{a.ID, a.Product, a.Loses}
	}
	for _, w := range r.Warnings {
		c.Warnings = append(c.Warnings, w.String())
	}
	for name, counters := range r.Counters {
		if c.Counters == nil {
			c.Counters = map[string]Counters{}
		}
		c.Counters[name] = buildCounters(counters, r.Rules[name])
	}
	protocols := map[string]string{}
	for _, in := range r.Case.Inbounds {
		protocols[in.String()] = in.Protocol.String()
	}
	for _, q := range r.Requests {
		built := buildRequest(q)
		built.Protocol = protocols[q.To]
		c.Requests = append(c.Requests, built)
	}
	for _, p := range r.RoutedRequests {
		c.RoutedRequests = append(c.RoutedRequests, buildRouted(p))
	}
	return c
}

func buildCounters(c evidence.Counters, rules map[string]evidence.Counters) Counters {
	out := Counters{Allowed: c.Allowed, Denied: c.Denied, ShadowAllowed: c.ShadowAllowed, ShadowDenied: c.ShadowDenied}
	for name, of := range rules {
		if out.Rules == nil {
			out.Rules = map[string]Counters{}
		}
		out.Rules[name] = buildCounters(of, nil)
	}
	return out
}

func buildRequest(q result.Request) Request {
	e := q.Evidence
	out := Request{
		From: q.From.Name, To: q.To, Method: q.Method, Path: q.Path, GRPC: q.GRPC, SNI: q.SNI, Token: token.Text(q.Token), Source: endpoint.Played(q.SourceIP, q.From.SourceIP), Want: q.Want.String(),
		Passed: len(q.Problems) == 0, Outcome: Outcome(q), Shadow: "none", Rule: q.Rule, Problems: q.ProblemTexts(), Explain: q.Explain,
		Evidence: Evidence{
			Caller: e.Answer.String(), Log: e.Log.Details + e.Log.Termination + e.Log.TransportFailure, Peer: e.Log.PeerURIs,
			Retries: e.Retries, Milliseconds: milliseconds(e.Took),
		},
	}
	out.Header = requestline.Lines(q.Authority, q.Headers)
	if q.Finding.Judged {
		out.By = q.Finding.Verdict.Origin
	}
	if shadow := q.Finding.Shadow; shadow.Ran {
		out.Shadow, out.ShadowBy = shadow.Verdict.Effect.String(), shadow.Verdict.Origin
	}
	if a := e.Arrival; a != nil {
		out.Evidence.Upstream = &Arrived{Method: a.Method, Path: a.Path, Bytes: a.Bytes, XFCC: a.XFCC()}
	}
	return out
}

// Outcome is the outcome of a request: "unproven" if the evidence contradicts itself or the
// transport failed.
func Outcome(q result.Request) string {
	if _, err := q.Evidence.Find(); err != nil {
		return "unproven"
	}
	switch q.Finding.Form {
	case evidence.Served:
		return "allow"
	case evidence.Refused:
		return "deny"
	case evidence.HandshakeFailed:
		return "handshake failed"
	default:
		return strconv.Itoa(q.Finding.Status)
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// AddUnmet adds a case that failed to the run, where a command fails for reasons that are about no request of its cases, and nothing where there are
// none: a reader of the run alone, such as a CI system, must not take it for a tick. Build makes the case, such as [Build].
func (r *Run) AddUnmet(name string, reasons []error, build func(result.Case) Case) {
	if len(reasons) > 0 {
		r.Add(build(result.Case{Case: cases.Case{Name: name}, Err: errors.Join(reasons...)}))
	}
}
