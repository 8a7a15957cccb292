package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// contains returns an error unless the text contains what is wanted.
func contains(text, want string) error {
	if strings.Contains(text, want) {
		return nil
	}
	return fmt.Errorf("an error that contains %q was expected, but: %s", want, text)
}

// judge holds the evidence of each request, and what the counters of each filter of an
// inbound moved by, against what must become of the case.
func (r *run) judge(es []evidence.Evidence, filters map[string][]evidence.FilterCounters) {
	r.addCounters(filters)
	sent := map[string][]evidence.Evidence{}
	for i, q := range r.reading.Case.Requests {
		property := verdict.Authorization
		expected := property.Expect(r.reading.Inbound(q.To), q)
		judged := property.Judge(expected, verdict.StatedOf(q, r.runner.AnyNames), es[i])
		one := result.Request{Request: q, Judgement: judged, Evidence: es[i]}
		if len(judged.Problems) > 0 {
			if judged.Judged {
				one.NearestRule = r.reading.Inbound(q.To).NearestRule(judged.Seen)
			}
			one.KeptOut = r.keptOut(expected, q.From)
		}
		r.result.Requests = append(r.result.Requests, one)
		sent[q.To] = append(sent[q.To], es[i])
	}
	r.result.Notes = append(r.result.Notes, r.reading.Set().Notes(observed(r.result.Requests))...)
	r.result.Err = r.checkConservation(sent, filters, r.countFindings)
}

// keptOut says why mTLS keeps a caller out, and what to write where the case trusts too few trust
// domains; "" where the caller gets to the policies.
func (r *run) keptOut(expected verdict.Expectation, from cases.Caller) string {
	fails, ok := expected.(verdict.HandshakeFails)
	if !ok {
		return ""
	}
	if own := from.SignedBy; !own.IsZero() && !slices.Contains(r.reading.Case.TrustDomains, own) {
		return fmt.Sprintf("%s: add %s to trustDomains of the case if the mesh trusts it", fails.Why, own.Name())
	}
	return fails.Why
}

// judgeCounters holds the counters of all requests against what the case states.
func (r *run) judgeCounters() {
	if r.result.Requests == nil && r.result.RoutedRequests == nil {
		return // Nothing was sent.
	}
	r.result.Err = errors.Join(r.result.Err, r.checkCounters())
	if r.result.Err != nil && r.sentAgain() {
		// A request that was sent again may have moved the counters twice.
		r.result.Fault = true
	}
}

// sentAgain reports whether the transport of a request failed, so that the request was sent again.
func (r *run) sentAgain() bool {
	return slices.ContainsFunc(r.result.Requests, func(q result.Request) bool { return q.Evidence.Retries > 0 }) ||
		slices.ContainsFunc(r.result.RoutedRequests, func(p result.RoutedRequest) bool { return p.Evidence.Retries > 0 })
}

// checkWarnings compares the warnings with the stated warnings of the case, both ways. A
// case without a statement expects no warning and forbids none.
func (r *run) checkWarnings() error {
	want := r.result.Case.ExpectWarnings
	if want == nil {
		return nil
	}
	var errs []error
	for _, text := range want {
		if !slices.ContainsFunc(r.result.Warnings, func(w policy.Warning) bool { return strings.Contains(w.String(), text) }) {
			errs = append(errs, fmt.Errorf("no warning contains %q", text))
		}
	}
	for _, w := range r.result.Warnings {
		if !slices.ContainsFunc(want, func(text string) bool { return strings.Contains(w.String(), text) }) {
			errs = append(errs, fmt.Errorf("the case does not expect the warning %q", w))
		}
	}
	return errors.Join(errs...)
}

// observed are the decisions that Envoy showed, as a dialect explains them.
func observed(requests []result.Request) []policy.Decision {
	out := make([]policy.Decision, len(requests))
	for i, q := range requests {
		f := q.Finding
		out[i] = policy.Decision{Layer: f.Layer, Shadowed: f.Shadow.Ran, Shadow: f.Shadow.Verdict}
		if f.Form == evidence.Served {
			out[i].Effect = policy.Allow
		}
	}
	return out
}
