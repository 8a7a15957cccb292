package counterexample

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/policy"
)

// surroundings leaves out trust domains and sets options, labels and tags to their
// defaults.
func (s *shrinker) surroundings() {
	own := s.smallest.c.TrustDomains[:1]
	minimize(s.smallest.c.TrustDomains[1:], func(kept []spiffeid.TrustDomain) bool {
		next := s.smallest
		next.c.TrustDomains = slices.Concat(own, kept)
		return s.take(next)
	})
	for _, key := range s.smallest.c.Options.Document.Keys() {
		next := s.smallest
		next.c.Options.Document = next.c.Options.Document.Without(key)
		s.take(next)
	}
	for _, change := range []func(c *cases.Case){
		func(c *cases.Case) { c.Normalization.Raw = false },
		func(c *cases.Case) { c.Normalization.KeepSlashes = false },
		func(c *cases.Case) { c.Normalization.EscapedSlashes = policy.RejectEscapedSlashes },
	} {
		next := s.smallest
		change(&next.c)
		s.take(next)
	}
	for i := range s.smallest.c.Inbounds {
		s.inbound(i)
	}
}

// inbound makes one of the inbounds plainer.
func (s *shrinker) inbound(i int) {
	with := func(change func(in *cases.Inbound)) bool {
		next := s.smallest
		next.c.Inbounds = slices.Clone(next.c.Inbounds)
		change(&next.c.Inbounds[i])
		return s.take(next)
	}
	in := s.smallest.c.Inbounds[i]
	minimize(in.Routes, func(kept []policy.InboundRoute) bool {
		return with(func(in *cases.Inbound) { in.Routes = kept })
	})
	with(func(in *cases.Inbound) { in.Tags = nil })
	minimize(slices.Sorted(maps.Keys(in.Tags)), func(kept []string) bool {
		return with(func(to *cases.Inbound) { to.Tags = only(in.Tags, kept) })
	})
	with(func(in *cases.Inbound) { in.Workload.Labels = nil })
	minimize(slices.Sorted(maps.Keys(in.Workload.Labels)), func(kept []string) bool {
		return with(func(to *cases.Inbound) { to.Workload.Labels = only(in.Workload.Labels, kept) })
	})
	for _, change := range []func(in *cases.Inbound){
		func(in *cases.Inbound) { in.Permissive = false },
		func(in *cases.Inbound) { in.Workload.Zone = "" },
		func(in *cases.Inbound) { in.Workload.Origin = "" },
		func(in *cases.Inbound) { in.Workload.Mesh = "default" },
		func(in *cases.Inbound) { in.Workload.Namespace = "default" },
		// The address of the first workload of a case.
		func(in *cases.Inbound) { in.IP = netip.AddrFrom4([4]byte{10, 64, 0, 1}) },
	} {
		with(change)
	}
}

// only returns the entries of these keys, nil without any.
func only(m map[string]string, keys []string) map[string]string {
	if len(keys) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, key := range keys {
		out[key] = m[key]
	}
	return out
}

// named gives the smallest case a name that says what it shows.
func (s *shrinker) named() cases.Case {
	c := s.smallest.c
	q := c.Requests[0]
	what := "a connection"
	for _, in := range c.Inbounds {
		if in.String() == q.To && in.Protocol.Layer() == policy.L7 {
			method, path := policy.RequestLine(q.Method, q.Path, q.GRPC)
			what = method + " " + path
		}
	}
	c.Name = fmt.Sprintf("counterexample: %s expected of %s as %s to %s, Envoy differs", q.Want, what, q.From.Name, q.To)
	c.Source = string(casewriter.YAML(c))
	return c
}
