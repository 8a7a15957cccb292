package counterexample

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/result"
	"github.com/meshproof/meshproof/internal/routeverdict"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/manifest"
)

// mostRoutedTries bounds how many cases with a sidecar are run: each waits for a new sidecar, and may
// wait for a limit.
const mostRoutedTries = 200

// shrinkRouted is [Shrink] for a request through a sidecar. It leaves out services, routes and timeouts
// too, and states what must become of the request. It returns false where a case file cannot state that.
//
// The function shows runs a case whose one request states nothing.
func shrinkRouted(ctx context.Context, shows func(ctx context.Context, r *verdict.Reading) bool, c cases.Case, r casefile.RoutedRequest) (cases.Case, bool) {
	s := &shrinker{ctx: ctx, shows: shows, tries: mostRoutedTries, candidates: mostCandidates, routed: true}
	s.root = newTrees(slices.Concat(c.Routing, c.Policies))
	s.seen, s.documents = map[string]bool{}, map[string]manifest.Document{}
	s.smallest.c = cases.Case{
		Name: "counterexample", TrustDomains: c.TrustDomains, Options: c.Options, Normalization: c.Normalization,
		Inbounds: c.Inbounds, RoutedRequests: []casefile.RoutedRequest{r},
	}
	if !s.take(s.smallest) {
		return c, false
	}
	s.smaller()
	return s.namedRouted()
}

// divide takes the services, routes and timeouts from the documents, as a case file has them.
func divide(c *cases.Case, docs []manifest.Document) {
	c.Policies, c.Routing = []manifest.Document{}, nil
	for _, doc := range docs {
		if dialects.RouterOf(doc) != nil {
			c.Routing = append(c.Routing, doc)
		} else {
			c.Policies = append(c.Policies, doc)
		}
	}
}

// readRouted writes the case and reads it back. What the request must want in a file is left out
// again: no candidate states it.
func (s *shrinker) readRouted(c cases.Case, docs []manifest.Document) (cases.Case, string, bool) {
	divide(&c, docs)
	r := c.RoutedRequests[0]
	r.Want = casefile.Allow
	c.RoutedRequests = []casefile.RoutedRequest{r}
	written := casewriter.YAML(c)
	all, err := cases.Parse(c.Name+".yaml", written)
	if err != nil || len(all) != 1 || len(all[0].RoutedRequests) != 1 {
		return cases.Case{}, "", false
	}
	all[0].RoutedRequests[0] = unstated(all[0].RoutedRequests[0])
	return all[0], string(written), true
}

// unstated leaves nothing of what the request of a case states.
func unstated(r casefile.RoutedRequest) casefile.RoutedRequest {
	r.Want, r.Route, r.Backends, r.By, r.Cause, r.Within = "", nil, nil, nil, nil, 0
	return r
}

// expectedRouted is what must become of the one request of a case.
func expectedRouted(r *verdict.Reading) (routeverdict.Expectation, bool) {
	routes, err := routeverdict.Read(r)
	if err != nil || routes == nil || len(routes.Expected) != 1 {
		return routeverdict.Expectation{}, false
	}
	return routes.Expected[0], true
}

// canState reports whether a case file can state what must become of the request.
func canState(r *verdict.Reading) bool {
	x, ok := expectedRouted(r)
	if ok {
		_, ok = x.State(r.Case.RoutedRequests[0])
	}
	return ok
}

// routedRequest makes the request plainer, a part at a time.
func (s *shrinker) routedRequest() {
	with := func(change func(r *casefile.RoutedRequest)) bool {
		next := s.smallest
		r := next.c.RoutedRequests[0]
		change(&r)
		next.c.RoutedRequests = []casefile.RoutedRequest{r}
		return s.take(next)
	}
	with(func(r *casefile.RoutedRequest) { r.Authority = "" })
	r := s.smallest.c.RoutedRequests[0]
	s.line(r.Headers, r.Path, func(change func(line)) bool {
		return with(func(r *casefile.RoutedRequest) { change(line{&r.Headers, &r.GRPC, &r.Method, &r.Path}) })
	})
}

// peerLabels leaves out the labels of workloads. Those of workloads with an inbound are the business
// of inbound.
func (s *shrinker) peerLabels() {
	for i := range s.smallest.c.Options.Peers {
		next := s.smallest
		next.c.Options.Peers = slices.Clone(next.c.Options.Peers)
		next.c.Options.Peers[i].Workload.Labels = nil
		s.take(next)
	}
}

// namedRouted gives the smallest case a name, and its request what must become of it.
func (s *shrinker) namedRouted() (cases.Case, bool) {
	c := s.smallest.c
	reading, err := verdict.Read(c)
	if err != nil {
		return c, false
	}
	x, ok := expectedRouted(reading)
	if !ok {
		return c, false
	}
	r, ok := x.State(c.RoutedRequests[0])
	if !ok {
		return c, false
	}
	c.RoutedRequests = []casefile.RoutedRequest{r}
	what := askedText(r.Method, r.Path, r.GRPC, x.Outbound.Protocol) + requestline.HeaderClause(r.Authority, r.Headers)
	c.Name = fmt.Sprintf("counterexample: %s (%s) expected of %s from %s to %s, Envoy differs", r.Want, r.Cause, what, r.From, r.To)
	c.Source = string(casewriter.YAML(c))
	return c, true
}

// findRouted is Find for the requests of a suspect through sidecars: one of each service and kind of
// problem.
func (f Finder) findRouted(ctx context.Context, s Suspect, out []Counterexample, causes map[string]bool) ([]Counterexample, error) {
	seen := map[string]bool{}
	for _, r := range s.RoutedRequests {
		if len(r.Problems) == 0 {
			continue
		}
		key := fmt.Sprintf("%s %d", r.To, r.Problems[0].Kind)
		if seen[key] || len(out) == mostFound || len(seen) == mostShrunk {
			continue
		}
		seen[key] = true
		f.Looking()
		small, ok := shrinkRouted(ctx, f.showsRouted(r), s.Case, unstated(r.RoutedRequest))
		if !ok {
			continue
		}
		var err error
		if out, err = f.keep(ctx, small, out, causes); err != nil {
			return out, err
		}
	}
	return out, nil
}

// showsRouted reports whether a smaller case has a problem of the same kind.
func (f Finder) showsRouted(whole result.RoutedRequest) func(context.Context, *verdict.Reading) bool {
	return func(ctx context.Context, smaller *verdict.Reading) bool {
		r := f.Run(ctx, smaller)
		return !r.Fault && len(r.RoutedRequests) == 1 && slices.ContainsFunc(r.RoutedRequests[0].Problems, func(p verdict.Problem) bool {
			return p.Kind == whole.Problems[0].Kind
		})
	}
}

// routedCause is what counterexamples of one cause through sidecars share beside the policies.
func routedCause(c cases.Case) string {
	var b strings.Builder
	for _, doc := range c.Routing {
		b.Write(doc.YAML())
	}
	for _, r := range c.RoutedRequests {
		route := ""
		if r.Route != nil {
			route = *r.Route
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", r.To, r.Want, cmp.Or(route, "none"), r.Cause)
	}
	return b.String()
}
