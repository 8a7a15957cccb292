package routeverdict

import (
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
)

// A run in which a clock of the evidence was late is repeated, and a run in which none was counts.
func TestLate(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	bounded, denied := routing.Bounded(routing.MaxStream), routing.Denied
	idle := routing.Bounded(routing.StreamIdle)
	timing := func(of arrival.Timing) *arrival.Record { return &arrival.Record{Timing: &of} }
	for name, c := range map[string]struct {
		expected, found Outcome
		duration        time.Duration
		arrival         *arrival.Record
		answer          script.Answer
		kept, counted   time.Duration
		onTheWay        time.Duration
		delayed, early  bool
	}{
		"refused, ended by its bound in time":             {expected: Outcome{Cause: denied}, found: Outcome{Cause: bounded}, duration: limit, delayed: true},
		"refused, ended by its bound too early":           {expected: Outcome{Cause: denied}, found: Outcome{Cause: bounded}, duration: limit / 2, early: true},
		"refused, ended by a bound that it has not":       {expected: Outcome{Cause: denied}, found: Outcome{Cause: routing.Bounded(routing.Request)}, duration: limit},
		"refused, and it is served":                       {expected: Outcome{Cause: denied}, found: Outcome{Cause: routing.Answered}, duration: limit},
		"arrived, ended by its bound in time":             {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit, arrival: &arrival.Record{}, delayed: true},
		"arrived, ended by its bound too early":           {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit / 2, arrival: &arrival.Record{}, early: true},
		"cut too early, before the application answered":  {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit / 2, arrival: timing(arrival.Timing{Cut: limit / 10}), early: true},
		"a body, and the headers were there in time":      {expected: Outcome{Cause: bounded, End: exchange.Cut}, found: Outcome{Cause: bounded, Status: 504}, duration: limit, arrival: timing(arrival.Timing{Sent: []time.Duration{time.Millisecond}, Cut: limit}), delayed: true},
		"a body, and the headers were not there":          {expected: Outcome{Cause: bounded, End: exchange.Cut}, found: Outcome{Cause: bounded}, duration: limit, arrival: timing(arrival.Timing{Cut: limit})},
		"an application behind its script":                {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit, arrival: timing(arrival.Timing{Delay: limit / 4, Cut: limit}), delayed: true},
		"an application a little behind its script":       {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit, arrival: timing(arrival.Timing{Delay: limit / 10, Cut: limit})},
		"an answer that was sent in time as a whole":      {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit, arrival: timing(arrival.Timing{Sent: []time.Duration{limit / 2}}), delayed: true},
		"an answer that Envoy cut":                        {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit, arrival: timing(arrival.Timing{Sent: []time.Duration{limit / 2}, Cut: limit})},
		"a silence of the application that is short":      {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: idle}, duration: 4 * limit, arrival: timing(arrival.Timing{Sent: []time.Duration{limit / 2, limit}, Cut: limit * 3 / 2}), delayed: true},
		"a silence of the application that is too long":   {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: idle}, duration: 4 * limit, arrival: timing(arrival.Timing{Sent: []time.Duration{limit / 2}, Cut: limit * 3 / 2})},
		"counters that were read too late":                {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: routing.Bounded(routing.Idle), Status: 200}, kept: limit / 2, counted: limit, delayed: true},
		"counters that were read in time":                 {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: routing.Bounded(routing.Idle), Status: 200}, kept: limit / 2, counted: limit/2 + limit/10},
		"an answer that was sent behind the end":          {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, duration: limit, arrival: timing(arrival.Timing{Sent: []time.Duration{limit + 1}})},
		"a request that arrived too late for its answer":  {expected: Outcome{Cause: routing.Answered}, found: Outcome{Cause: bounded}, answer: script.Answer{After: limit * 9 / 10}, duration: limit, onTheWay: limit / 4, arrival: timing(arrival.Timing{Cut: limit * 3 / 4}), delayed: true},
		"a late request, whose answer was due later":      {expected: Outcome{Cause: bounded}, found: Outcome{Cause: routing.Sentinel}, answer: script.Answer{After: 2 * limit}, duration: limit, onTheWay: limit / 4, arrival: timing(arrival.Timing{Cut: limit * 3 / 4})},
		"a late request, whose connection ends later":     {expected: Outcome{Cause: bounded}, found: Outcome{Cause: routing.Sentinel}, answer: script.Answer{After: limit / 2, End: script.Closes}, duration: limit, onTheWay: limit / 4, arrival: timing(arrival.Timing{Cut: limit * 3 / 4}), delayed: true},
		"a late request, and no answer to it":             {expected: Outcome{Cause: bounded}, found: Outcome{Cause: routing.Sentinel}, answer: script.Answer{End: script.Stops}, duration: limit, onTheWay: limit / 4, arrival: timing(arrival.Timing{Cut: limit * 3 / 4})},
		"another cause than a bound, with a late machine": {expected: Outcome{Cause: bounded}, found: Outcome{Cause: routing.NoRoute}, arrival: timing(arrival.Timing{Delay: time.Second})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := Expectation{clusters: map[string]routing.Limits{"c": {routing.MaxStream: {Time: limit}, routing.StreamIdle: {Time: limit}}}}
			j := Judgement{Outcome: c.expected, Finding: exchange.Finding{Cluster: "c", Cause: c.found.Cause, Duration: c.duration, Answer: exchange.Answer{Status: c.found.Status}}}
			e := exchange.Evidence{Arrival: c.arrival, Request: exchange.Request{Keep: c.kept, Answer: c.answer}, Counted: time.Time{}.Add(c.counted)}
			if c.arrival != nil && c.arrival.Timing != nil {
				e.Outbound.Began = c.arrival.Timing.Began.Add(-c.onTheWay)
			}
			if late := j.lateness(x, e); (late != "") != c.delayed || j.isEarly(x) != c.early {
				t.Errorf("late %q, early %t", late, j.isEarly(x))
			}
		})
	}
}
