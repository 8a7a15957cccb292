package counterexample

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/verdict"
)

// wanted returns what the one request of a case has to want, see [verdict.Want].
func (s *shrinker) wanted(r *verdict.Reading) cases.Want {
	if s.stated == cases.HandshakeFailure {
		return s.stated
	}
	switch e := s.expected(r).(type) {
	case verdict.Rejected:
		// The listener answers before the policies do.
		return s.stated
	case verdict.HandshakeFails:
		if s.letIn {
			return cases.Deny
		}
		return verdict.Want(e)
	default:
		return verdict.Want(e)
	}
}

func (s *shrinker) expected(r *verdict.Reading) verdict.Expectation {
	q := r.Case.Requests[0]
	return r.Inbound(q.To).Expect(q)
}

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
	minimize(s.smallest.c.Requests[0].Headers, func(kept []cases.Header) bool {
		return with(func(q *cases.Request) { q.Headers = kept })
	})
	with(func(q *cases.Request) { q.GRPC = "" })
	with(func(q *cases.Request) { q.Method = "" })
	for _, path := range s.paths() {
		if with(func(q *cases.Request) { q.Path = path }) {
			break
		}
	}
	for _, from := range simplerCallers(s.smallest.c) {
		if with(func(q *cases.Request) { q.From = from }) {
			break
		}
	}
}

// paths returns simpler paths, the shortest first: the default path, the paths that the
// policies name, and the parents of the request's own path.
func (s *shrinker) paths() []string {
	own := s.smallest.c.Requests[0].Path
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
