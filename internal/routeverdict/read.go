// Package routeverdict says what must become of a request through the sidecar of a workload, and
// whether it did: its route, its backend, why it ends, and how that looks to its caller.
//
// [Read] reads the services, routes and timeouts of a case. [Sidecar.Expect] follows a request
// through the program, the plain evaluator of the dialect, the script of the application and the
// authorization of the inbound. [Judge] holds evidence against it. The two are a
// [verdict.Property] beside authorization.
//
// It guarantees that a cause is compared with a field of the evidence, never with a duration. A
// duration only shows that a bound did not take effect too early. Where the application or Envoy
// was late by the clock of the application, a judgement says so, and proves nothing. A request
// whose end depends on the speed of the machine is refused.
//
// It sends nothing and knows no harness.
package routeverdict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/casefile"
	"github.com/meshproof/meshproof/internal/dialects"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
)

// Reading is what the services, routes and timeouts of a case come to for each workload that
// sends requests.
type Reading struct {
	// Sidecars are in the order of the workloads.
	Sidecars []Sidecar
	// Expected has what must become of each request through a sidecar, in the order of the case.
	Expected []Expectation
	// Warnings are the mismatches, which have no effect on any workload. Unproven are what a control plane may give
	// an effect on one of the sidecars, and the lab does not.
	Warnings, Unproven []policy.Warning
	// Set has the routes, timeouts and services, and Workloads are all of the case.
	Set       capability.Routing
	Workloads []policy.Inbound
}

// Sidecar is the sidecar of a workload, as the harness takes it, and as the policies see it.
type Sidecar struct {
	routingconfig.Sidecar
	workload policy.Inbound
	routing  capability.Routing
	inbounds *verdict.Reading
	caller   cases.Caller
}

// Read reads the routing of a case, whose authorization has been read. It returns nil for a case
// without any. The errors are joined.
func Read(r *verdict.Reading) (*Reading, error) {
	c := r.Case
	if len(c.Routing) == 0 {
		return nil, nil
	}
	set, err := dialects.RouterOf(c.Routing[0]).ParseRouting(c.Routing, c.Options)
	if err != nil {
		return nil, err
	}
	out := &Reading{Set: set}
	for _, peer := range c.Options.Peers {
		w := policy.Inbound{Workload: peer.Workload}
		if i := slices.IndexFunc(c.Inbounds, func(in cases.Inbound) bool { return in.Workload.Name == peer.Workload.Name }); i >= 0 {
			w = c.Inbounds[i].Inbound
		}
		out.Workloads = append(out.Workloads, w)
		if !slices.ContainsFunc(c.RoutedRequests, func(p casefile.RoutedRequest) bool { return p.From == peer.Workload.Name }) {
			continue
		}
		s := Sidecar{workload: w, routing: set, inbounds: r}
		s.Name, s.Identity, s.Address = peer.Workload.Name, peer.Identity, peer.IP
		var ignored []routing.Ignored
		s.Program, ignored = set.Outbounds(w)
		for _, i := range ignored {
			if told := asWarning(i); (i.Unproven || i.Kind == "") && !slices.Contains(out.Unproven, told) {
				out.Unproven = append(out.Unproven, told)
			}
		}
		s.Endpoints = endpoints(s.Program, set, c.Inbounds)
		s.caller = cases.Caller{Name: s.Name, SignedBy: peer.Identity.TrustDomain(), SourceIP: peer.IP}
		s.caller.Template.URIs = []string{peer.Identity.String()}
		out.Sidecars = append(out.Sidecars, s)
	}
	for _, m := range slices.Concat(set.Mismatches(out.Workloads), strangers(set, c.Inbounds)) {
		out.Warnings = append(out.Warnings, asWarning(m))
	}
	return out, out.expect(c.RoutedRequests)
}

func asWarning(i routing.Ignored) policy.Warning {
	return policy.Warning{Kind: i.Kind, Place: i.Place, Policy: i.Origin, Message: i.Reason}
}

// strangers are the services whose stated identities the inbounds of a case do not have.
func strangers(set capability.Routing, of []cases.Inbound) []routing.Ignored {
	inbounds, identities := make([]policy.Inbound, len(of)), map[string]string{}
	for i, in := range of {
		inbounds[i], identities[in.Workload.Name] = in.Inbound, in.Identity.String()
	}
	return set.Strangers(inbounds, func(w policy.Workload) string { return identities[w.Name] })
}

func (r *Reading) expect(requests []casefile.RoutedRequest) error {
	var errs []error
	for _, p := range requests {
		i := slices.IndexFunc(r.Sidecars, func(s Sidecar) bool { return s.Name == p.From })
		x := r.Sidecars[i].Expect(p)
		if x.Unclear != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Place, x.Unclear))
		} else if err := x.divided(p); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.Place, err))
		}
		r.Expected = append(r.Expected, x)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return r.addSentinels(requests)
}

// endpoints are the inbounds behind each cluster of a program.
func endpoints(p routing.Proxy, set capability.Routing, inbounds []cases.Inbound) map[string][]routingconfig.Endpoint {
	all := make([]policy.Inbound, len(inbounds))
	for i, in := range inbounds {
		all[i] = in.Inbound
	}
	out := map[string][]routingconfig.Endpoint{}
	for _, c := range p.Clusters {
		for _, behind := range set.InboundsBehind(c.Name, all) {
			i := slices.IndexFunc(inbounds, func(in cases.Inbound) bool { return in.String() == behind.String() })
			e := routingconfig.Endpoint{Inbound: behind.String()}
			if reach := inbounds[i].Reach; reach != script.Accepts {
				e = routingconfig.Endpoint{Reach: reach}
			}
			out[c.Name] = append(out[c.Name], e)
		}
	}
	return out
}

// addSentinels gives an outbound a bound beside its own: what a bound of the program must have ended by
// then, and nothing else comes near to.
func (r *Reading) addSentinels(requests []casefile.RoutedRequest) error {
	for k := range r.Sidecars {
		s := &r.Sidecars[k]
		s.Sentinels = routingconfig.Sentinels{}
		stated := map[string]bool{}
		for i, p := range requests {
			x := r.Expected[i]
			if p.From == s.Name && p.Within != 0 && x.Unclear == nil && !x.endsByBound() {
				return fmt.Errorf("%s: within is %s, and it is about a bound that ends a request: none ends this one", p.Place, p.Within)
			}
			if p.From != s.Name || !x.endsByBound() {
				continue
			}
			at := cmp.Or(p.Within, x.latest()+max(x.latest()*2/5, leastSentinel))
			if p.Within != 0 && p.Within < x.latest()+leastSentinel/2 {
				return fmt.Errorf("%s: within is %s, and the bound takes effect after %s: leave time between the two", p.Place, p.Within, x.latest())
			}
			s.Sentinels[x.Outbound.Name] = max(s.Sentinels[x.Outbound.Name], at)
			stated[x.Outbound.Name] = stated[x.Outbound.Name] || p.Within != 0
		}
		for i, p := range requests {
			x := r.Expected[i]
			outbound := x.Outbound.Name
			if at, ok := s.Sentinels[outbound]; !ok || p.From != s.Name || x.endsByBound() || x.latest() <= at/2 {
				continue
			}
			if stated[outbound] {
				return fmt.Errorf("%s: the request may take %s, and within of another request to the service ends it: give the two a service each", p.Place, x.latest())
			}
			delete(s.Sentinels, outbound)
		}
		for i, p := range requests {
			if x := &r.Expected[i]; p.From == s.Name {
				x.Sentinel = s.Sentinels[x.Outbound.Name]
			}
		}
	}
	return nil
}
