package routeverdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// LongestWait is the longest limit that a request waits for where it is not a request of a case, and
// shortestWait the shortest: less is as long as the machine takes anyway.
const (
	shortestWait = 50 * time.Millisecond
	LongestWait  = 2 * time.Second
)

// IsWaitedFor reports whether a request waits for a limit of this time.
func IsWaitedFor(limit time.Duration) bool { return limit >= shortestWait && limit <= LongestWait }

// Linger makes a request last for a time that a bound looks at: in its head, or on its connection behind the
// answer. It reports false for the other bounds, which look at the application's answer.
func Linger(r *casefile.RoutedRequest, bound routing.Bound, protocol policy.Protocol, d time.Duration) bool {
	switch {
	case bound == routing.RequestHeaders:
		r.Sends.Head = d
	case bound == routing.MaxConnection || bound == routing.Idle && protocol.Layer() != policy.L4:
		r.Sends.Keep = d
	default:
		return false
	}
	return true
}

// ExpectAll returns what must become of each request, in a case without others. A request whose end is not clear
// has that in its expectation.
func ExpectAll(c cases.Case, requests []casefile.RoutedRequest) ([]Expectation, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	c.RoutedRequests = requests
	reading, err := verdict.Read(c)
	if err != nil {
		return nil, err
	}
	routes, err := Read(reading)
	if routes == nil {
		return nil, cmp.Or(err, errors.New("there is no route to ask"))
	}
	return routes.Expected, nil
}

// EndsBy reports whether the end of the request is clear, and the bound ends it at each backend that may take it.
func (x Expectation) EndsBy(bound routing.Bound) bool {
	return x.Unclear == nil && len(x.Outcomes) > 0 && !slices.ContainsFunc(x.Outcomes, func(o Outcome) bool { return o.Cause != routing.Bounded(bound) })
}

// Unseen says why no request is seen to reach a limit. The expectations are those of the requests that might
// have been; there are none where the limit itself says that no request waits for it.
func Unseen(bound routing.Bound, limit time.Duration, tried ...Expectation) string {
	switch {
	case limit < shortestWait:
		return fmt.Sprintf("it is shorter than %s", shortestWait)
	case limit > LongestWait:
		return fmt.Sprintf("it is longer than %s", LongestWait)
	case bound == routing.Connection:
		return "each endpoint takes or refuses a connection at once"
	case len(tried) == 0:
		return "no request reaches it"
	}
	x := tried[0]
	switch {
	case x.Unclear != nil:
		return x.Unclear.Error()
	case len(x.Outcomes) == 0:
		return "no backend takes the request"
	}
	for _, o := range x.Outcomes {
		by, ok := o.Cause.Bound()
		switch {
		case o.Cause == routing.Denied:
			return "the inbound " + o.Inbound + " refuses the request"
		case ok && by != bound:
			return fmt.Sprintf("%s ends the request after %s", by, o.Limit.Time)
		case o.Cause == routing.NoBackend:
			return "a backend of the request does not exist"
		case o.Cause == routing.NoEndpoint:
			return "a backend of the request has no endpoint"
		}
	}
	return "no request reaches it"
}
