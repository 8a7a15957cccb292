package routeverdict

import (
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/routing"
)

// A kept connection that outlives its bound is asked for again; all else is judged as it is.
func TestKeptTooLong(t *testing.T) {
	t.Parallel()
	idle := routing.Bounded(routing.Idle)
	for name, c := range map[string]struct {
		expected, found routing.Cause
		keep            time.Duration
		status          int
		ended           bool
		want            bool
	}{
		"it outlives the bound":              {expected: idle, found: routing.Answered, keep: time.Second, status: 200, want: true},
		"it ends by the bound":               {expected: idle, found: idle, keep: time.Second, status: 200, want: false},
		"it ends by another bound":           {expected: idle, found: routing.Bounded(routing.MaxConnection), keep: time.Second, status: 200, want: false},
		"no bound should end it":             {expected: routing.Answered, found: routing.Answered, keep: time.Second, status: 200, want: false},
		"it is answered in time":             {expected: idle, found: routing.Answered, keep: 0, status: 200, want: true},
		"a policy refuses the caller":        {expected: idle, found: routing.Denied, keep: time.Second, status: 200, want: false},
		"over tcp, its caller saw the end":   {expected: idle, found: idle, keep: time.Second, ended: true},
		"over tcp, its caller left too soon": {expected: idle, found: idle, keep: time.Second, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := Judgement{Outcome: Outcome{Cause: c.expected}, Finding: exchange.Finding{Cause: c.found, Answer: exchange.Answer{Status: c.status, Ended: c.ended}}}
			var p casefile.RoutedRequest
			p.Sends.Keep = c.keep
			if got := j.outlived(p); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// A request that the sentinel ends in place of its bound is asked for again. One that reached the
// application, and that no bound should end, is not.
func TestSentinelBeforeTheBound(t *testing.T) {
	t.Parallel()
	arrived := &arrival.Record{Timing: &arrival.Timing{}}
	for _, c := range []struct {
		expected routing.Cause
		arrival  *arrival.Record
		want     bool
	}{
		{routing.Bounded(routing.Request), arrived, true},
		{routing.Answered, nil, true},
		{routing.Answered, &arrival.Record{}, true},
		{routing.Answered, arrived, false},
		{routing.Denied, arrived, false},
	} {
		j := Judgement{Outcome: Outcome{Cause: c.expected}, Finding: exchange.Finding{Cause: routing.Sentinel}}
		if got := j.isSentinel(exchange.Evidence{Arrival: c.arrival}); got != c.want {
			t.Errorf("%s: got %t", c.expected, got)
		}
	}
}

// A connection or a head that takes too long is tried again, and a connection to another backend is not.
func TestSlowStart(t *testing.T) {
	t.Parallel()
	connecting, head := routing.Bounded(routing.Connection), routing.Bounded(routing.RequestHeaders)
	for _, c := range []struct {
		expected, found routing.Cause
		cluster         string
		want            bool
	}{
		{routing.Answered, connecting, "c", true},
		{routing.Answered, connecting, "other", false},
		{connecting, connecting, "c", false},
		{routing.Answered, routing.Refused, "c", false},
		{routing.Answered, head, "", true},
		{head, head, "", false},
	} {
		j := Judgement{Outcome: Outcome{Cluster: "c", Cause: c.expected}, Finding: exchange.Finding{Cluster: c.cluster, Cause: c.found}}
		if got := j.isSlowStart(exchange.Evidence{}); got != c.want {
			t.Errorf("%s for %s at %q: got %t", c.found, c.expected, c.cluster, got)
		}
	}
}
