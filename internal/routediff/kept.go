package routediff

import (
	"cmp"
	"fmt"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/routeverdict"
)

// Cases are the cases of each side that [Difference.Confirm] asks, as case files keep them: each request states
// what must become of it under the policies of the side. Left names the requests that no file can
// state, because backends of one route end them differently.
func (d *Difference) Cases() (old, recent []cases.Case, left []string, err error) {
	for c, err := range d.confirmations() {
		if err != nil {
			return nil, nil, nil, err
		}
		was, lost, errOld := stated(c.old)
		is, more, errNew := stated(c.recent)
		if err := cmp.Or(errOld, errNew); err != nil {
			return nil, nil, nil, err
		}
		left = append(append(left, lost...), more...)
		if len(was.RoutedRequests) > 0 {
			old = append(old, was)
		}
		if len(is.RoutedRequests) > 0 {
			recent = append(recent, is)
		}
	}
	return old, recent, left, nil
}

// stated has the requests that a file can state.
func stated(c cases.Case) (out cases.Case, left []string, err error) {
	expected, err := routeverdict.ExpectAll(c, c.RoutedRequests)
	if err != nil {
		return c, nil, err
	}
	var requests []casefile.RoutedRequest
	for i, x := range expected {
		if r, ok := x.State(c.RoutedRequests[i]); ok {
			requests = append(requests, r)
		} else {
			left = append(left, fmt.Sprintf("%s: %s", c.Name, c.RoutedRequests[i].Place))
		}
	}
	c.RoutedRequests = requests
	return c, left, nil
}
