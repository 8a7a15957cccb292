package counterexample

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// request makes the request plainer, a part at a time.
func (s *shrinker) request() {
	with := func(change func(q *cases.Request)) bool {
		next := s.smallest
		q := next.c.Requests[0]
		change(&q)
		next.c.Requests = []cases.Request{q}
		return s.take(next)
	}
	with(func(q *cases.Request) { q.SourceIP, q.From.SourceIP = netip.Addr{}, netip.Addr{} })
	with(func(q *cases.Request) { q.Authority = "" })
	with(func(q *cases.Request) { q.SNI = "" })
	with(func(q *cases.Request) { q.Token = nil })
	if t := s.smallest.c.Requests[0].Token; t != nil {
		for _, name := range slices.Sorted(maps.Keys(t.Claims)) {
			with(func(q *cases.Request) { q.Token = q.Token.WithoutClaim(name) })
		}
	}
	q := s.smallest.c.Requests[0]
	s.line(q.Headers, q.Path, func(change func(line)) bool {
		return with(func(q *cases.Request) { change(line{&q.Headers, &q.GRPC, &q.Method, &q.Path}) })
	})
	for _, from := range simplerCallers(s.smallest.c) {
		if with(func(q *cases.Request) { q.From = from }) {
			break
		}
	}
}

// line is what a request to an inbound and a request through a sidecar have alike.
type line struct {
	headers            *[]policy.Header
	grpc, method, path *string
}

// line makes the headers and the request line plainer. The function takes a change where the
// counterexample still stands with it.
func (s *shrinker) line(headers []policy.Header, path string, with func(change func(line)) bool) {
	minimize(headers, func(kept []policy.Header) bool { return with(func(l line) { *l.headers = kept }) })
	with(func(l line) { *l.grpc = "" })
	with(func(l line) { *l.method = "" })
	for _, simpler := range s.paths(path) {
		if with(func(l line) { *l.path = simpler }) {
			break
		}
	}
}

// paths returns simpler paths, the shortest first: the default path, the paths that the
// policies name, and the parents of the request's own path.
func (s *shrinker) paths(own string) []string {
	if own == "" {
		return nil
	}
	out := []string{""}
	s.smallest.texts(s.root, func(text string) {
		if strings.HasPrefix(text, "/") && len(text) < len(own) {
			out = append(out, text)
		}
	})
	path, _, _ := strings.Cut(own, "?")
	for ; path != ""; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		out = append(out, path)
	}
	return shortestFirst(out)
}

// simplerCallers returns callers with a single sound SVID: for each SPIFFE ID of the
// request's caller, and for each parent path of such an ID. The shortest ID stands first.
func simplerCallers(c cases.Case) []cases.Caller {
	from := c.Requests[0].From
	t := from.Template
	if from.Plaintext || from.Anonymous || t.Validity != certs.Sound || len(t.Usages) > 0 || t.CA {
		return nil
	}
	simpler := map[string]cases.Caller{}
	for _, uri := range t.URIs {
		id, err := spiffeid.FromString(uri)
		if err != nil || !slices.Contains(c.TrustDomains, id.TrustDomain()) {
			continue
		}
		add := func(uri string) {
			simpler[uri] = cases.Caller{Name: uri, Template: certs.Template{URIs: []string{uri}}, SignedBy: id.TrustDomain(), SourceIP: from.SourceIP}
		}
		add(uri)
		for path := id.Path(); strings.Count(path, "/") > 1; {
			path = path[:strings.LastIndexByte(path, '/')]
			add(id.TrustDomain().IDString() + path)
		}
	}
	var out []cases.Caller
	for _, uri := range shortestFirst(slices.Collect(maps.Keys(simpler))) {
		out = append(out, simpler[uri])
	}
	return out
}

// shortestFirst sorts texts by length and drops duplicates.
func shortestFirst(texts []string) []string {
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(texts)
}

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
		next.c.Options.Document = next.c.Options.Document.WithoutKey(key)
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
		return with(func(to *cases.Inbound) { to.Tags = keepEntries(in.Tags, kept) })
	})
	with(func(in *cases.Inbound) { in.Workload.Labels = nil })
	minimize(slices.Sorted(maps.Keys(in.Workload.Labels)), func(kept []string) bool {
		return with(func(to *cases.Inbound) { to.Workload.Labels = keepEntries(in.Workload.Labels, kept) })
	})
	for _, change := range []func(in *cases.Inbound){
		func(in *cases.Inbound) { in.MTLS = mtls.Unset },
		func(in *cases.Inbound) { in.TrustedHops = 0 },
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

// keepEntries returns the entries of these keys, nil without any.
func keepEntries(m map[string]string, keys []string) map[string]string {
	if len(keys) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, key := range keys {
		out[key] = m[key]
	}
	return out
}

// askedText says what a request asks for, as its callee sees it.
func askedText(method, path, grpc string, over policy.Protocol) string {
	if over.Layer() != policy.L7 {
		return "a connection"
	}
	method, path = requestline.MethodAndTarget(method, path, grpc)
	return method + " " + path
}

// named gives the smallest case a name that says what it shows.
func (s *shrinker) named() cases.Case {
	c := s.smallest.c
	q := c.Requests[0]
	to := slices.IndexFunc(c.Inbounds, func(in cases.Inbound) bool { return in.String() == q.To })
	what := askedText(q.Method, q.Path, q.GRPC, c.Inbounds[to].Protocol)
	what += servername.Clause(q.SNI) + token.Clause(q.Token) + endpoint.Clause(q.SourceIP, q.From.SourceIP) + requestline.HeaderClause(q.Authority, q.Headers)
	c.Name = fmt.Sprintf("counterexample: %s expected of %s as %s to %s, Envoy differs", q.Want, what, q.From.Name, q.To)
	c.Source = string(casewriter.YAML(c))
	return c
}
