package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
	r.result.Counters = map[string]evidence.Counters{}
	for name, moved := range filters {
		r.result.Counters[name] = evidence.Sum(moved)
	}
	sent := map[string][]evidence.Evidence{}
	for i, q := range r.reading.Case.Requests {
		property := verdict.Authorization
		expected := property.Expect(r.reading.Inbound(q.To), q)
		judged := property.Judge(expected, verdict.StatedOf(q, r.runner.AnyNames), es[i])
		r.result.Requests = append(r.result.Requests, result.Request{Request: q, Judgement: judged, Evidence: es[i]})
		sent[q.To] = append(sent[q.To], es[i])
	}
	r.result.Notes = append(r.result.Notes, r.reading.Set().Notes(observed(r.result.Requests))...)
	r.result.Err = errors.Join(r.checkConservation(sent, filters), r.checkCounters())
	if r.result.Err != nil && slices.ContainsFunc(es, func(e evidence.Evidence) bool { return e.Retries > 0 }) {
		// A request that was sent again may have moved the counters twice.
		r.result.Fault = true
	}
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

// checkConservation holds Envoy's counters against the access log, filter by filter: each
// request that a filter judged moves one of its counters by one, and nothing else does.
// Where the policies are one gate, no second filter may judge either, unless the compiler
// may divide the policies as it likes.
func (r *run) checkConservation(sent map[string][]evidence.Evidence, filters map[string][]evidence.FilterCounters) error {
	var errs []error
	for _, in := range r.reading.Inbounds() {
		name := in.String()
		want, moved := evidence.Count(sent[name]), filters[name]
		sum, movedSum := r.countFindings(name), evidence.Sum(moved)
		switch {
		case !in.HasSeveralGates() && !r.runner.AnyNames && sum != movedSum:
			errs = append(errs, fmt.Errorf("the counters of %s moved by %s; the requests add up to %s", name, movedSum, sum))
		case !slices.Equal(want, moved):
			errs = append(errs, fmt.Errorf("the counters of %s moved by %s; the requests add up to %s", name, moved, want))
		}
	}
	return errors.Join(errs...)
}

// countFindings returns what the counters of an inbound with one filter must have moved by,
// if the findings are true.
func (r *run) countFindings(inbound string) (c evidence.Counters) {
	count := func(effect policy.Effect, allowed, denied *uint64) {
		if effect == policy.Allow {
			*allowed++
		} else {
			*denied++
		}
	}
	for _, q := range r.result.Requests {
		if f := q.Finding; q.To == inbound {
			if f.Judged {
				count(f.Verdict.Effect, &c.Allowed, &c.Denied)
			}
			if f.Shadow.Ran {
				count(f.Shadow.Verdict.Effect, &c.ShadowAllowed, &c.ShadowDenied)
			}
		}
	}
	return c
}

// checkCounters holds the counters against what the case states.
func (r *run) checkCounters() error {
	var errs []error
	for _, c := range r.result.Case.Counters {
		moved := r.result.Counters[c.Inbound]
		for _, counter := range []struct {
			name string
			want *uint64
			got  uint64
		}{
			{"allowed", c.Allowed, moved.Allowed},
			{"denied", c.Denied, moved.Denied},
			{"shadow_allowed", c.ShadowAllowed, moved.ShadowAllowed},
			{"shadow_denied", c.ShadowDenied, moved.ShadowDenied},
		} {
			if counter.want != nil && *counter.want != counter.got {
				errs = append(errs, fmt.Errorf("the case wants %s of %s to move by %d, it moved by %d", counter.name, c.Inbound, *counter.want, counter.got))
			}
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
