package routeproof

import (
	"fmt"
	"slices"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// mostWaited is the longest limit that a proof waits for, and leastWaited the shortest: less is as
// long as the machine takes anyway.
const (
	mostWaited  = 2 * time.Second
	leastWaited = 50 * time.Millisecond
)

// bounded is a limit that ends a request which is never answered.
type bounded struct {
	bound routing.Bound
	routing.Limit
}

// String names the limit and its origin.
func (b bounded) String() string { return b.bound.String() + " " + b.Limit.String() }

// wait asks for a request of each route that the application never answers, so that the shortest
// limit of the route ends it. It names the limits that are too long, or too close to another one.
func (p *Proof) wait(sender lab.Sender, o Outbound) {
	if o.Protocol.Layer() == policy.L4 {
		return
	}
	asked := map[string]bool{}
	for _, c := range o.Cover.Classes {
		d := o.Decide(c.Witness)
		if d.Route == "" || asked[d.Route] {
			continue
		}
		asked[d.Route] = true
		limits := limitsOf(sender, d)
		for i, l := range limits {
			isFirst := i == 0 && l.Time >= leastWaited && l.Time <= mostWaited && (len(limits) == 1 || limits[1].Time >= l.Time*3/2+leastWaited)
			if !isFirst {
				p.NotWaited = append(p.NotWaited, fmt.Sprintf("%s of route %s to %s", l, d.Route, o.Service))
				continue
			}
			p.Waited++
			p.asked = append(p.asked, ask{len(p.Outbounds) - 1, classes.Unclassed})
			r := requestOf(c.Witness)
			p.Passages = append(p.Passages, casefile.Passage{
				Place: fmt.Sprintf("%s of route %s", l, d.Route), From: p.Senders[0], To: o.Name, Method: r.Method, Path: r.Path, Headers: r.Headers, Answer: never,
			})
		}
	}
}

// never is an application that gives no answer.
var never, _ = script.Named("never")

// limitsOf are the limits that policies set and that end a request which is never answered, the
// shortest first.
func limitsOf(sender lab.Sender, d routing.Decision) []bounded {
	all := []bounded{{routing.Request, d.Limits[routing.Request]}, {routing.StreamIdle, d.Limits[routing.StreamIdle]}}
	for _, b := range d.Backends {
		if c := sender.Cluster(b.Cluster); c != nil && b.Weight > 0 {
			all = append(all, bounded{routing.MaxStream, c.Limits[routing.MaxStream]})
		}
	}
	all = slices.DeleteFunc(all, func(b bounded) bool { return b.Origin == "" || b.Time == 0 })
	slices.SortStableFunc(all, func(a, b bounded) int { return int(a.Time - b.Time) })
	return slices.Compact(all)
}
