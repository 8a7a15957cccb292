package mutation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"

	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/routeproof"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/verdict"
)

// sidecarMutant is a mistake in the outbound side of a sidecar, with the requests that show it. The first
// ones are the case's own.
type sidecarMutant struct {
	mistake.Sidecar
	original string
	requests []casefile.RoutedRequest
	stated   int
}

// routed are requests through sidecars, with what must become of them. The first ones are the case's own.
type routed struct {
	requests []casefile.RoutedRequest
	expected []routeverdict.Expectation
	stated   int
}

// routedRequests are the requests of a case and, unless the tester leaves them out, those of its proof.
func (t Tester) routedRequests(of []casefile.RoutedRequest, routes *routeverdict.Reading) routed {
	out := routed{slices.Clone(of), slices.Clone(routes.Expected), len(of)}
	if t.OwnRequests {
		return out
	}
	for _, s := range routes.Sidecars {
		for _, r := range routeproof.Requests(s.Name, s.Program) {
			// What the lab cannot follow in this case is no request of its proof.
			if x := s.Expect(r); x.Unclear == nil {
				out.requests, out.expected = append(out.requests, r), append(out.expected, x)
			}
		}
	}
	return out
}

// sidecars makes every mistake in the outbound sides of a case, one at a time, and runs the requests
// that should find it.
func (t Tester) sidecars(ctx context.Context, reading *verdict.Reading, score *Score) error {
	routes, err := routeverdict.Read(reading)
	if err != nil || routes == nil {
		return err
	}
	var mutants []sidecarMutant
	probes := t.routedRequests(reading.Case.RoutedRequests, routes)
	for _, s := range routes.Sidecars {
		asked := map[string]bool{}
		for i, p := range reading.Case.RoutedRequests {
			asked[routes.Expected[i].Outbound.Name] = asked[routes.Expected[i].Outbound.Name] || p.From == s.Name
		}
		for _, m := range mistake.OfSidecar(s.Program) {
			// No request goes to some outbounds.
			if !asked[m.Outbound] && m.Outbound != "" {
				continue
			}
			_, shown := m.Shown(s.Program)
			_, invalid := routingconfig.Compile(m.Proxy, "", nil)
			switch {
			case invalid != nil:
				score.Invalid++
			case !shown || onlyShares(s.Program, m.Proxy):
				score.Equivalent++
			default:
				requests, own := probes.showing(s, m)
				if len(requests) == 0 && unshowable(s, m) != "" {
					score.Unshowable = append(score.Unshowable, fmt.Sprintf("%s at %s: %s", m.Kind, m.Where, unshowable(s, m)))
					continue
				}
				mutants = append(mutants, sidecarMutant{m, s.Name, requests, own})
			}
		}
	}
	verdicts, errs := make([]Verdict, len(mutants)), make([]error, len(mutants))
	free := make(chan struct{}, max(t.Parallel, defaultParallel))
	var running sync.WaitGroup
	for i, m := range mutants {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			verdicts[i], errs[i] = t.sidecar(ctx, reading, m)
		})
	}
	running.Wait()
	for _, v := range verdicts {
		if v.invalid {
			score.Invalid++
		} else {
			score.Mutants = append(score.Mutants, v)
		}
	}
	return errors.Join(errs...)
}

// onlyShares reports whether a mistake changes nothing but how many of the requests each backend
// gets. A request shows that it took one of the backends, and not how many do.
func onlyShares(original, mutant routing.Proxy) bool {
	backends := func(r routing.Route) (out []string) {
		for _, b := range r.Backends {
			if b.Weight > 0 {
				out = append(out, b.Cluster)
			}
		}
		return out
	}
	if !reflect.DeepEqual(original.Clusters, mutant.Clusters) {
		return false
	}
	for i := range original.Outbounds {
		was, is := original.Outbounds[i], mutant.Outbounds[i]
		if len(was.Routes) != len(is.Routes) {
			return false
		}
		for k := range was.Routes {
			a, b := was.Routes[k], is.Routes[k]
			for _, cluster := range backends(b) {
				if !slices.Contains(backends(a), cluster) {
					return false
				}
			}
			if a.Backends, b.Backends = nil, nil; !reflect.DeepEqual(a, b) {
				return false
			}
		}
		if was.Routes, is.Routes = nil, nil; !reflect.DeepEqual(was, is) {
			return false
		}
	}
	return true
}

// mostRepeated is how often a request is sent that a mistake changes in a share of its runs alone.
const mostRepeated = 64

// showing returns the requests through a sidecar whose end the mistake changes, and how many of them are
// the case's own. One that the mistake sends to another backend in a share of its runs is there several
// times.
func (r routed) showing(s routeverdict.Sidecar, m mistake.Sidecar) (out []casefile.RoutedRequest, own int) {
	mutant := s
	mutant.Program = m.Proxy
	for i, p := range r.requests {
		if p.From != s.Name {
			continue
		}
		was, is := r.expected[i], mutant.Expect(p)
		if reflect.DeepEqual(was.Outcomes, is.Outcomes) && was.Decision.Route == is.Decision.Route {
			continue
		}
		for range repeats(was, is) {
			out = append(out, p)
		}
		if i < r.stated {
			own = len(out)
		}
		if len(out) >= requestLimit {
			break
		}
	}
	return out, own
}

// repeats returns how often a request must be sent so that a backend of the mistake alone takes it
// once, but for one time in ten thousand.
func repeats(was, is routeverdict.Expectation) int {
	if was.Decision.Route != is.Decision.Route {
		return 1
	}
	wrong, all := 0.0, 0.0
	for _, b := range is.Decision.Backends {
		all += float64(b.Weight)
		if !slices.ContainsFunc(was.Decision.Backends, func(old routing.Backend) bool { return old.Cluster == b.Cluster && old.Weight > 0 }) {
			wrong += float64(b.Weight)
		}
	}
	if wrong == 0 || wrong == all {
		return 1
	}
	return min(mostRepeated, int(math.Ceil(math.Log(1e-4)/math.Log(1-wrong/all))))
}

// sidecar runs the requests that should find one mistake.
func (t Tester) sidecar(ctx context.Context, reading *verdict.Reading, m sidecarMutant) (Verdict, error) {
	v := Verdict{Mutant: Mutant{Mistake: mistake.Mistake{Kind: m.Kind, Where: m.Where}}, Inbound: "sidecar of " + m.original}
	if len(m.requests) == 0 {
		v.Reason = "no request of the case goes otherwise"
		return v, nil
	}
	runner := t.Runner
	runner.Done = nil
	runner.Sidecar = func(s routingconfig.Sidecar) routingconfig.Sidecar {
		if s.Name == m.original {
			s.Program = m.Proxy
		}
		return s
	}
	c := reading.Case
	c.Requests, c.Counters, c.ExpectWarnings, c.RoutedRequests = nil, nil, nil, m.requests
	r := runner.Reading(ctx, reading.ForRequests(c))
	switch {
	case r.Fault:
		return v, fmt.Errorf("mutation: %s: case %q with %s: %w", c.Place, c.Name, m.Kind, r.Err)
	case r.Err != nil && len(r.RoutedRequests) == 0:
		v.invalid = true
		return v, nil
	}
	if v.Killed = r.Failed(); !v.Killed {
		v.Reason = "Envoy sends the requests as without the mistake"
		return v, nil
	}
	if r.Err != nil {
		v.Reason = r.Err.Error()
	}
	for i, p := range slices.Backward(r.RoutedRequests) {
		if len(p.Problems) > 0 {
			v.Reason, v.KilledByOwn = p.Problems[0].String(), i < m.stated
		}
	}
	return v, nil
}
