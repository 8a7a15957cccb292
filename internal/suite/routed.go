package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/progress"
	"github.com/meshproof/meshproof/internal/rendering"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routelint"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/policy"
)

// mistimedTries is how often a request through a sidecar is sent where the time of a bound alone is wrong.
const mistimedTries = 5

// patience is how long the caller of a request waits where a mistake is made on purpose. The cases
// take no time as long as this.
const patience = 3 * time.Second

// readRoutes reads the services, routes and timeouts of the case. It reports whether the case goes
// on: a case may want them refused.
func (r *run) readRoutes() bool {
	routes, err := routeverdict.Read(r.reading)
	switch want := r.result.Case.ExpectError; {
	case err == nil:
	case want != "":
		r.result.Err = contains(err.Error(), want)
		return false
	default:
		r.result.Err = err
		return false
	}
	if r.routes = routes; routes != nil {
		// A case that states its warnings, or may have none, is held against all of them, as lint does.
		if c := r.reading.Case; c.ExpectWarnings != nil || r.runner.Strict {
			routes.Warnings = routelint.Lint(routes.Set, routes.Workloads)
		}
		r.result.Warnings = slices.Concat(r.result.Warnings, routes.Warnings, routes.Unproven, rendering.Unrendered(r.reading.Case.Routing))
		for i, s := range routes.Sidecars {
			if r.runner.Sidecar != nil {
				routes.Sidecars[i].Sidecar = r.runner.Sidecar(s.Sidecar)
			}
		}
	}
	return true
}

// sendRouted sends the requests of the case through the sidecars of their workloads, all at once, and
// judges them. What proves nothing, because the machine was late, is sent again. The counters of each
// batch must be conserved. Those of the case are what its judged requests moved, each of them once.
func (r *run) sendRouted(ctx context.Context, mesh *harness.Mesh) error {
	routed := r.reading.Case.RoutedRequests
	r.result.RoutedRequests = make([]result.RoutedRequest, len(routed))
	left := make([]int, len(routed))
	for i := range left {
		left[i] = i
	}
	mistimings := make([]mistiming, len(routed))
	for try := 1; len(left) > 0; try++ {
		requests := make([]exchange.Request, len(left))
		for k, i := range left {
			requests[k] = request(routed[i], r.routes.Expected[i])
			if r.runner.Sidecar != nil {
				// A mistake may take the bound away that would end the request.
				requests[k].Patience = patience
			}
		}
		batch, err := mesh.SendRouted(ctx, requests...)
		if err != nil {
			return err
		}
		r.result.Err = errors.Join(r.result.Err, r.checkRoutedConservation(batch))
		var late []int
		for k, i := range left {
			judged := routeverdict.Property.Judge(r.routes.Expected[i], routed[i], batch.Evidence[k])
			found := result.RoutedRequest{RoutedRequest: routed[i], Judgement: judged, Expected: r.routes.Expected[i], Evidence: batch.Evidence[k], Tries: try}
			if judged.Delay != "" || !mistimings[i].settle(&found) && try < exchange.Tries {
				late = append(late, i)
			} else {
				progress.Ask(ctx)
			}
			r.result.RoutedRequests[i] = found
		}
		if left = late; try == exchange.Tries && len(left) > 0 {
			var why []string
			for _, i := range left {
				why = append(why, routed[i].Place+": "+r.result.RoutedRequests[i].Delay)
			}
			return fmt.Errorf("suite: nothing is proven after %d runs: the machine is too slow for these times: %s", exchange.Tries, strings.Join(why, "; "))
		}
	}
	var judged exchange.Batch
	for _, p := range r.result.RoutedRequests {
		judged.Evidence = append(judged.Evidence, p.Evidence)
	}
	counted := map[string][]evidence.FilterCounters{}
	for inbound, sent := range judged.ByInbound() {
		counted[inbound] = evidence.Count(sent)
	}
	r.addCounters(counted)
	return nil
}

// mistiming is about a request that had a bound with another time at a backend. A run that takes the same
// backend settles it. A run that takes another one does not: the fault may be that of the backend.
type mistiming struct {
	times int
	last  result.RoutedRequest
}

// settle reports whether a run settles what became of the request. Where it does not, the run in doubt
// takes its place, for no other run may follow.
func (m *mistiming) settle(found *result.RoutedRequest) bool {
	switch {
	case found.Mistimed:
		m.times++
		m.last = *found
		return m.times == mistimedTries
	case m.times == 0 || len(found.Problems) > 0 || len(found.Expected.Outcomes) == 1 || found.Finding.Cluster == m.last.Finding.Cluster:
		return true
	default:
		m.last.Tries = found.Tries
		*found = m.last
		return false
	}
}

// checkRoutedConservation holds the counters that a batch moved against the logs of the inbounds.
func (r *run) checkRoutedConservation(batch exchange.Batch) error {
	sent := batch.ByInbound()
	return r.checkConservation(sent, batch.Filters, func(inbound string) evidence.Counters { return countLogs(sent[inbound]) })
}

// request is a request of a case as the harness sends it.
func request(p casefile.RoutedRequest, x routeverdict.Expectation) exchange.Request {
	out := exchange.Request{
		From: p.From, To: x.Outbound.Name, Method: p.Method, Path: p.Path, Authority: p.Authority, Headers: p.Headers, GRPC: p.GRPC,
		HeadPause: p.Sends.Head, BodyPause: p.Sends.Body, Open: p.Sends.Open, Keep: p.Sends.Keep, Answer: p.Answer,
		// Where no field of a log says why a connection ended, a counter of its own does.
		Alone: p.Sends.Keep > 0 || x.Outbound.Protocol == policy.TCP,
	}
	if p.Sends.Body > 0 {
		out.Body = "meshproof"
	}
	return out
}
