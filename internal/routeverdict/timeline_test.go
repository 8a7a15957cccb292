package routeverdict

import (
	"strings"
	"testing"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
)

const ms = time.Millisecond

func limits(of map[routing.Bound]time.Duration) (out routing.Limits) {
	for bound, d := range of {
		out[bound].Time = d
	}
	return out
}

// Each bound ends a request at its time, and a request within it goes on.
func TestTimeline(t *testing.T) {
	t.Parallel()
	type sends = casefile.Sending
	never := script.Answer{End: script.Stops}
	after := func(d time.Duration) script.Answer { return script.Answer{After: d} }
	drip := func(parts int, every time.Duration) script.Answer { return script.Answer{Parts: parts, Every: every} }
	bounded := routing.Bounded
	for name, tt := range map[string]struct {
		bound    routing.Bound
		limit    time.Duration
		protocol policy.Protocol
		reach    script.Reach
		sends    sends
		answer   script.Answer
		cause    routing.Cause
		time     time.Duration
		begun    bool
	}{
		"request, never":            {bound: routing.Request, limit: 200 * ms, answer: never, cause: bounded(routing.Request), time: 200 * ms},
		"request, in time":          {bound: routing.Request, limit: 200 * ms, answer: after(100 * ms), cause: routing.Answered, time: 100 * ms},
		"request, cut":              {bound: routing.Request, limit: 200 * ms, answer: drip(8, 50*ms), cause: bounded(routing.Request), time: 200 * ms, begun: true},
		"request, from its end":     {bound: routing.Request, limit: 200 * ms, sends: sends{Body: 300 * ms}, answer: never, cause: bounded(routing.Request), time: 500 * ms},
		"request, left open":        {bound: routing.Request, limit: 200 * ms, sends: sends{Open: true}, answer: after(400 * ms), cause: routing.Answered, time: 400 * ms},
		"request, black hole":       {bound: routing.Request, limit: 200 * ms, reach: script.BlackHole, cause: bounded(routing.Request), time: 200 * ms},
		"idle stream, never":        {bound: routing.StreamIdle, limit: 200 * ms, answer: never, cause: bounded(routing.StreamIdle), time: 200 * ms},
		"idle stream, bytes":        {bound: routing.StreamIdle, limit: 200 * ms, answer: drip(8, 50*ms), cause: routing.Answered, time: 400 * ms},
		"idle stream, stops":        {bound: routing.StreamIdle, limit: 200 * ms, answer: script.Answer{Parts: 1, Every: 50 * ms, End: script.Stops}, cause: bounded(routing.StreamIdle), time: 250 * ms, begun: true},
		"idle stream, slow body":    {bound: routing.StreamIdle, limit: 200 * ms, sends: sends{Body: 300 * ms}, cause: bounded(routing.StreamIdle), time: 200 * ms},
		"longest stream":            {bound: routing.MaxStream, limit: 200 * ms, answer: drip(8, 50*ms), cause: bounded(routing.MaxStream), time: 200 * ms, begun: true},
		"longest stream, from head": {bound: routing.MaxStream, limit: 200 * ms, sends: sends{Head: 100 * ms}, answer: never, cause: bounded(routing.MaxStream), time: 300 * ms},
		"connect":                   {bound: routing.Connection, limit: 200 * ms, reach: script.BlackHole, cause: bounded(routing.Connection), time: 200 * ms},
		"connect, refused":          {bound: routing.Connection, limit: 200 * ms, reach: script.Refuses, cause: routing.Refused},
		"connect, taken":            {bound: routing.Connection, limit: 200 * ms, answer: after(400 * ms), cause: routing.Answered, time: 400 * ms},
		"headers":                   {bound: routing.RequestHeaders, limit: 200 * ms, sends: sends{Head: 300 * ms}, cause: bounded(routing.RequestHeaders), time: 200 * ms},
		"headers, in time":          {bound: routing.RequestHeaders, limit: 200 * ms, sends: sends{Head: 100 * ms}, cause: routing.Answered, time: 100 * ms},
		"idle, kept":                {bound: routing.Idle, limit: 200 * ms, sends: sends{Keep: 300 * ms}, cause: bounded(routing.Idle), time: 200 * ms},
		"idle, not kept":            {bound: routing.Idle, limit: 200 * ms, answer: after(400 * ms), cause: routing.Answered, time: 400 * ms},
		"longest connection":        {bound: routing.MaxConnection, limit: 200 * ms, sends: sends{Keep: 300 * ms}, cause: bounded(routing.MaxConnection), time: 200 * ms},
		"closes":                    {bound: routing.Request, limit: 200 * ms, answer: script.Answer{End: script.Closes}, cause: routing.Broken},
		"closes in the body":        {bound: routing.Request, limit: 200 * ms, answer: script.Answer{Parts: 1, Every: 50 * ms, End: script.Closes}, cause: routing.Broken, time: 50 * ms, begun: true},
		"tcp idle, kept":            {bound: routing.Idle, limit: 200 * ms, protocol: policy.TCP, sends: sends{Keep: 300 * ms}, cause: bounded(routing.Idle), time: 200 * ms, begun: true},
		"tcp idle, bytes":           {bound: routing.Idle, limit: 200 * ms, protocol: policy.TCP, answer: drip(8, 50*ms), cause: routing.Answered, time: 400 * ms, begun: true},
		"tcp idle, never":           {bound: routing.Idle, limit: 200 * ms, protocol: policy.TCP, answer: never, cause: bounded(routing.Idle), time: 200 * ms},
		"tcp connect":               {bound: routing.Connection, limit: 200 * ms, protocol: policy.TCP, reach: script.BlackHole, cause: bounded(routing.Connection), time: 200 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := timeline{
				limits: limits(map[routing.Bound]time.Duration{tt.bound: tt.limit}), protocol: tt.protocol, reach: tt.reach,
				request: casefile.RoutedRequest{Sends: tt.sends, Answer: tt.answer},
			}
			end, begun, err := line.run()
			if err != nil || end != (moment{tt.time, tt.cause}) || tt.begun && !begun {
				t.Errorf("got %s at %s (begun %t), %v", end.cause, end.time, begun, err)
			}
		})
	}
}

// Of two bounds the first counts, in either order.
func TestTimelineOfTwoBounds(t *testing.T) {
	t.Parallel()
	for want, of := range map[routing.Bound]map[routing.Bound]time.Duration{
		routing.StreamIdle: {routing.Request: 300 * ms, routing.StreamIdle: 100 * ms},
		routing.Request:    {routing.Request: 100 * ms, routing.StreamIdle: 300 * ms},
		routing.MaxStream:  {routing.Request: 300 * ms, routing.StreamIdle: 300 * ms, routing.MaxStream: 100 * ms},
	} {
		line := timeline{limits: limits(of), request: casefile.RoutedRequest{Answer: script.Answer{End: script.Stops}}}
		if end, _, err := line.run(); err != nil || end != (moment{100 * ms, routing.Bounded(want)}) {
			t.Errorf("got %s at %s, %v, want %s", end.cause, end.time, err, want)
		}
	}
}

// A wait that the speed of the machine decides is refused.
func TestTimelineIsTooClose(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{101 * ms, 150 * ms, 200 * ms, 249 * ms} {
		line := timeline{limits: limits(map[routing.Bound]time.Duration{routing.Request: 200 * ms}), request: casefile.RoutedRequest{Answer: script.Answer{After: wait}}}
		if _, _, err := line.run(); err == nil || !strings.Contains(err.Error(), "requestTimeout is 200ms, and the request waits for "+wait.String()) {
			t.Errorf("%s: %v", wait, err)
		}
	}
	line := timeline{limits: limits(map[routing.Bound]time.Duration{routing.Request: 200 * ms, routing.StreamIdle: 220 * ms}), request: casefile.RoutedRequest{Answer: script.Answer{End: script.Stops}}}
	if end, _, err := line.run(); err == nil {
		t.Errorf("two bounds within 20 ms: %s at %s", end.cause, end.time)
	}
}
