package routeproof

import (
	"fmt"
	"slices"
	"time"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/lab"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
)

// limit is a limit that a policy sets, of a route, of a listener or of a backend.
type limit struct {
	bound routing.Bound
	routing.Limit
	// outbound names what has the limit.
	outbound string
	// waits are requests that it may end: one is enough.
	waits []wait
}

// wait is a request to an outbound.
type wait struct {
	outbound int
	casefile.RoutedRequest
}

// String names the limit, its origin, and what has it.
func (l limit) String() string { return l.head() + " of " + l.outbound }

func (l limit) head() string { return l.bound.String() + " " + l.Limit.String() }

// Unseen is a limit that no request waits for.
type Unseen struct {
	// Limit names the limit and its origin, Outbound the outbound that has it, and Reason says why it is not seen.
	Limit, Outbound, Reason string
}

// String is a line about the limit.
func (u Unseen) String() string { return u.Reason + ": " + u.Limit + " of " + u.Outbound }

// joined are lines about limits: one for those of one origin, which are not seen for one reason.
func joined(all []Unseen) (out []string) {
	at := map[Unseen]int{}
	var groups []Unseen
	for _, u := range all {
		key := Unseen{Limit: u.Limit, Reason: u.Reason}
		i, ok := at[key]
		if !ok {
			at[key], groups = len(groups), append(groups, u)
			continue
		}
		groups[i].Outbound += ", " + u.Outbound
	}
	for _, u := range groups {
		out = append(out, u.String())
	}
	return out
}

// neverAnswers is an application that gives no answer.
var neverAnswers, _ = script.Named("never")

// limitsOf are the limits that policies set for the requests to the outbounds of a sender. A limit of
// a backend is one limit for all routes to it.
func (p *Proof) limitsOf(sender routing.Proxy) (out []limit) {
	add := func(bound routing.Bound, l routing.Limit, of string, w wait) {
		if l.Origin == "" || l.Time == 0 || bound.NeedsHTTP() && w.isTCP(p) {
			return
		}
		i := slices.IndexFunc(out, func(known limit) bool { return known.bound == bound && known.Limit == l && known.outbound == of })
		if i < 0 {
			i, out = len(out), append(out, limit{bound: bound, Limit: l, outbound: of})
		}
		if r, ok := w.untilEnded(p, bound, l.Time); ok {
			out[i].waits = append(out[i].waits, wait{w.outbound, r})
		}
	}
	for i, o := range p.Outbounds {
		asked := map[string]bool{}
		for _, c := range o.Cover.Classes {
			d := o.Decide(c.Witness)
			if d.Route == "" || asked[d.Route] {
				continue
			}
			asked[d.Route] = true
			r := requestOf(c.Witness)
			w := wait{i, routeverdict.AsCall(&o.Outbound, casefile.RoutedRequest{From: p.workload, To: o.Name, Method: r.Method, Path: r.Path, Headers: r.Headers})}
			for bound := range routing.Bounds {
				switch {
				case bound == routing.Idle && w.isTCP(p) || bound.Level() == routing.OfRoute:
					add(bound, d.Limits[bound], fmt.Sprintf("route %s to %s", d.Route, o.Service), w)
				case bound.Level() == routing.OfListener:
					add(bound, d.Limits[bound], "outbound "+o.Service.String(), w)
				default:
					for _, b := range d.Backends {
						if c := sender.Cluster(b.Cluster); c != nil && b.Weight > 0 {
							add(bound, c.Limits[bound], "backend "+b.Cluster, w)
						}
					}
				}
			}
		}
	}
	return out
}

func (w wait) isTCP(p *Proof) bool { return p.Outbounds[w.outbound].Protocol.Layer() == policy.L4 }

// untilEnded makes the request one that a bound ends after a time. No request of a proof waits for the
// time of a connection: its application would have to take none.
func (w wait) untilEnded(p *Proof, bound routing.Bound, after time.Duration) (casefile.RoutedRequest, bool) {
	r := w.RoutedRequest
	if !routeverdict.IsWaitedFor(after) || bound == routing.Connection {
		return r, false
	}
	protocol := p.Outbounds[w.outbound].Protocol
	if !routeverdict.Linger(&r, bound, protocol, 2*after) {
		r.Answer = neverAnswers
	}
	return r, bound != routing.RequestHeaders || protocol == policy.HTTP
}

// wait asks for a request for each limit that can be seen to end one, and names the other limits: those
// that are too long, that come behind another one, or whose request is refused.
func (p *Proof) wait(sender lab.Sender) error {
	all := p.limitsOf(sender.Proxy)
	var requests []casefile.RoutedRequest
	for _, l := range all {
		for _, w := range l.waits {
			requests = append(requests, w.RoutedRequest)
		}
	}
	expected, err := routeverdict.ExpectAll(p.Case.Case, requests)
	if err != nil {
		return err
	}
	for _, l := range all {
		i := slices.IndexFunc(expected[:len(l.waits)], func(x routeverdict.Expectation) bool { return x.EndsBy(l.bound) })
		why := routeverdict.Unseen(l.bound, l.Time, expected[:len(l.waits)]...)
		expected = expected[len(l.waits):]
		if i < 0 {
			p.NotWaited = append(p.NotWaited, Unseen{l.head(), l.outbound, why})
			continue
		}
		w := l.waits[i]
		w.Place = l.String()
		p.Waited++
		p.asked = append(p.asked, ask{w.outbound, classes.Unclassed})
		p.RoutedRequests = append(p.RoutedRequests, w.RoutedRequest)
	}
	return nil
}
