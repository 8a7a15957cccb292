package routeverdict

import (
	"fmt"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
)

const (
	// early is how long before its time a bound may take effect: Envoy's timers have the
	// resolution of its event loop.
	early = 10 * time.Millisecond
	// leastSentinel is the least time between a bound and what bounds it from above.
	leastSentinel = 80 * time.Millisecond
	// forever stands for what never happens.
	forever = time.Hour
)

// timeline follows a request in time: what the caller and the application do, and which of the
// bounds comes first.
type timeline struct {
	limits   routing.Limits
	protocol policy.Protocol
	request  casefile.RoutedRequest
	reach    script.Reach

	// first is what happens first so far.
	first moment
	// headers is when the headers of the answer come, or its first byte.
	headers time.Duration
	// bounded are the bounds that would take effect, and doubts the waits that may be too long
	// for a bound from a time on.
	bounded []moment
	doubts  []doubt
}

type doubt struct {
	start time.Duration
	err   error
}

// moment is the end of a request.
type moment struct {
	time  time.Duration
	cause routing.Cause
}

// progress is how far a request has come.
type progress uint8

const (
	// requesting is a request that is not complete.
	requesting progress = iota
	waiting
	// answering is a request whose answer has begun.
	answering
)

// endOf is how far the request had come at its end.
func (t *timeline) endOf(end moment, begun bool) progress {
	sends := t.request.Sends
	switch {
	case begun:
		return answering
	case t.protocol.Layer() == policy.L7 && (sends.Open || end.time < sends.Head+sends.Body):
		return requesting
	default:
		return waiting
	}
}

// run returns the end of the request, and whether the answer has begun by then. An error says that
// two things come so close to each other that the speed of the machine decides.
func (t *timeline) run() (moment, bool, error) {
	t.first, t.headers = moment{forever, routing.LeftByCaller}, forever
	if t.protocol.Layer() == policy.L4 {
		t.runTCP()
	} else {
		t.runHTTP()
	}
	for _, d := range t.doubts {
		if d.start < t.first.time {
			return t.first, false, d.err
		}
	}
	for _, m := range t.bounded {
		if m.cause != t.first.cause && m.time < t.first.time*5/4 {
			return t.first, false, fmt.Errorf("%s would end the request after %s, and %s after %s: leave a quarter between the two", t.first.cause, t.first.time, m.cause, m.time)
		}
	}
	return t.first, t.first.time > t.headers, nil
}

// happens takes what happens at a time, unless something happens before.
func (t *timeline) happens(at time.Duration, cause routing.Cause) {
	if at < t.first.time {
		t.first = moment{at, cause}
	}
}

// bounds takes the bound of a wait that begins at a time and takes so long.
func (t *timeline) bounds(bound routing.Bound, from, wait time.Duration) {
	limit := t.limits[bound].Time
	switch {
	case limit == 0 || from >= forever:
	case wait >= limit*5/4:
		m := moment{from + limit, routing.Bounded(bound)}
		t.bounded = append(t.bounded, m)
		t.happens(m.time, m.cause)
	case wait > limit/2:
		err := fmt.Errorf("%s is %s, and the request waits for %s: make the wait at most half of that, or a quarter longer", bound, limit, wait)
		t.doubts = append(t.doubts, doubt{from + limit/2, err})
	}
}

// ends takes how the script of the application ends, and bounds each silence between the times at
// which something is sent. It returns when the answer is whole.
func (t *timeline) ends(silence routing.Bound, at []time.Duration) (whole time.Duration) {
	whole = at[len(at)-1]
	switch t.request.Answer.End {
	case script.Complete:
		t.happens(whole, routing.Answered)
	case script.Closes:
		t.happens(whole, routing.Broken)
	case script.Stops:
		whole = forever
		at = append(at, forever)
	}
	for i := 1; i < len(at); i++ {
		t.bounds(silence, at[i-1], at[i]-at[i-1])
	}
	return whole
}

func (t *timeline) runHTTP() {
	head, sends, answer := t.request.Sends.Head, t.request.Sends, t.request.Answer
	t.bounds(routing.RequestHeaders, 0, head)
	end := head + sends.Body
	switch t.reach {
	case script.Refuses:
		t.happens(head, routing.Refused)
		return
	case script.BlackHole:
		t.bounds(routing.Connection, head, forever)
		if !sends.Open {
			t.bounds(routing.Request, end, forever)
		}
		t.bounds(routing.StreamIdle, end, forever)
		return
	}
	at := []time.Duration{head}
	if sends.Body > 0 {
		at = append(at, end)
	}
	last := end
	if answer.HasHeaders() {
		t.headers = end + answer.After
		last = t.headers
		at = append(at, last)
		for range answer.Parts {
			last += answer.Every
			at = append(at, last)
		}
	}
	whole := t.ends(routing.StreamIdle, at)
	if !sends.Open {
		t.bounds(routing.Request, end, whole-end)
	}
	t.bounds(routing.MaxStream, head, whole-head)
	if t.first.cause == routing.Answered && sends.Keep > 0 {
		t.keep(last, last)
	}
}

// keep follows a connection that is kept in silence behind an answer. The bounds of a connection
// end it, and the answer is whole nevertheless.
func (t *timeline) keep(silent, connected time.Duration) {
	whole := t.first
	t.first, t.bounded, t.doubts = moment{forever, whole.cause}, nil, nil
	t.bounds(routing.Idle, silent, t.request.Sends.Keep)
	if limit := t.limits[routing.MaxConnection].Time; limit != 0 {
		t.bounds(routing.MaxConnection, 0, connected+t.request.Sends.Keep)
	}
	if t.first.time == forever {
		t.first = moment{whole.time + t.request.Sends.Keep, whole.cause}
	}
}

// runTCP follows a connection whose caller sends one text.
func (t *timeline) runTCP() {
	answer, sends := t.request.Answer, t.request.Sends
	switch t.reach {
	case script.Refuses:
		t.happens(0, routing.Refused)
		return
	case script.BlackHole:
		t.bounds(routing.Connection, 0, forever)
		return
	}
	at := []time.Duration{0}
	if sends.Body > 0 {
		at = append(at, sends.Body)
	}
	last := sends.Body
	if answer.HasHeaders() {
		last += answer.After
		for range answer.Parts {
			last += answer.Every
			at = append(at, last)
		}
		if answer.Parts == 0 {
			at = append(at, last)
		}
		t.headers = at[len(at)-max(answer.Parts, 1)]
	}
	t.ends(routing.Idle, at)
	if t.first.cause == routing.Answered && sends.Keep > 0 {
		t.keep(last, last)
	}
}
