package routeverdict

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// LongestWait is the longest limit that a request waits for where it is not a request of a case, and
// ShortestWait the shortest: less is as long as the machine takes anyway.
const (
	ShortestWait = 50 * time.Millisecond
	LongestWait  = 2 * time.Second
)

// IsWaitedFor reports whether a request waits for a limit of this time.
func IsWaitedFor(limit time.Duration) bool { return limit >= ShortestWait && limit <= LongestWait }

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
