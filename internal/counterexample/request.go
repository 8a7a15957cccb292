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
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
)

// wanted is what the policies say of the one request of a case, or what mTLS says where
// mTLS answers first. ok is false where the policies are refused.
func (s *shrinker) wanted(c cases.Case) (want cases.Want, ok bool) {
	set, err := dialect.Parse(c.Policies, c.Options)
	if err != nil {
		return cases.Want{}, false
	}
	q := c.Requests[0]
	var to cases.Inbound
	for _, in := range c.Inbounds {
		if set.Check(in.Inbound) != nil {
			return cases.Want{}, false
		}
		if in.String() == q.To {
			to = in
		}
	}
	program := set.Program(to.Inbound)
	// A caller without a certificate has no signer, so it is untrusted too.
	untrusted := !q.From.Plaintext && !slices.Contains(c.TrustDomains, q.From.SignedBy)
	switch {
	case s.stated == cases.HandshakeFailure, untrusted, q.From.Plaintext && !to.Permissive:
		return cases.HandshakeFailure, true
	case q.From.Plaintext && !program.JudgesPlaintext:
		return cases.Allow, true
	}
	r := policy.Request{URIs: q.From.Template.URIs, DNS: q.From.Template.DNS}
	if to.Protocol.Layer() == policy.L7 {
		r.Method, r.Path = methodAndPath(q)
		if r.Path, err = c.Normalization.Apply(r.Path); err != nil {
			// The listener answers before the policies do.
			return s.stated, true
		}
	}
	if policy.Decide(program.Program, r).Effect == policy.Allow {
		return cases.Allow, true
	}
	return cases.Deny, true
}

// methodAndPath returns the method and the path that are sent for a request.
func methodAndPath(q cases.Request) (method, path string) {
	if q.GRPC != "" {
		return "POST", "/" + q.GRPC
	}
	return cmp.Or(q.Method, "GET"), cmp.Or(q.Path, "/")
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
