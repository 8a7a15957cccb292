package proof

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/dialect"
)

// wanted is what the policies say of a case's one request, as far as mTLS lets it
// come; ok is false where they are refused.
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
	// One without a certificate is signed by nobody.
	strange := !q.From.Plaintext && !slices.Contains(c.TrustDomains, q.From.SignedBy)
	switch {
	case s.stated == cases.HandshakeFailure, strange, q.From.Plaintext && !to.Permissive:
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
	return wantOf(policy.Decide(program.Program, r)), true
}

// methodAndPath are those of a request on the wire.
func methodAndPath(q cases.Request) (method, path string) {
	if q.GRPC != "" {
		return "POST", "/" + q.GRPC
	}
	return cmp.Or(q.Method, "GET"), cmp.Or(q.Path, "/")
}

// request makes the request plainer, a part at a time.
func (s *shrinker) request() {
	with := func(change func(q *cases.Request)) bool {
		next := s.at
		q := next.c.Requests[0]
		change(&q)
		next.c.Requests = []cases.Request{q}
		return s.take(next)
	}
	with(func(q *cases.Request) { q.SourceIP, q.From.SourceIP = netip.Addr{}, netip.Addr{} })
	with(func(q *cases.Request) { q.Authority = "" })
	minimize(s.at.c.Requests[0].Headers, func(kept []cases.Header) bool {
		return with(func(q *cases.Request) { q.Headers = kept })
	})
	with(func(q *cases.Request) { q.GRPC = "" })
	with(func(q *cases.Request) { q.Method = "" })
	for _, path := range s.paths() {
		if with(func(q *cases.Request) { q.Path = path }) {
			break
		}
	}
	for _, from := range simplerCallers(s.at.c) {
		if with(func(q *cases.Request) { q.From = from }) {
			break
		}
	}
}

// paths are the simpler paths, the shortest first: the default, those that the
// policies name, and those above the request's own.
func (s *shrinker) paths() []string {
	own := s.at.c.Requests[0].Path
	if own == "" {
		return nil
	}
	out := []string{""}
	s.at.texts(s.root, func(text string) {
		if strings.HasPrefix(text, "/") && len(text) < len(own) {
			out = append(out, text)
		}
	})
	bare, _, _ := strings.Cut(own, "?")
	for path := bare; path != ""; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		out = append(out, path)
	}
	return shortestFirst(out)
}

// simplerCallers are those with a sound SVID of one of the caller's SPIFFE IDs, or of
// one above it.
func simplerCallers(c cases.Case) []cases.Caller {
	from := c.Requests[0].From
	t := from.Template
	if from.Plaintext || from.Anonymous || t.Validity != certs.Sound || t.Usage != certs.ClientAndServer || t.CA {
		return nil
	}
	var uris []string
	for _, uri := range t.URIs {
		id, err := spiffeid.FromString(uri)
		if err != nil || !slices.Contains(c.TrustDomains, id.TrustDomain()) {
			continue
		}
		uris = append(uris, uri)
		for path := id.Path(); strings.Count(path, "/") > 1; {
			path = path[:strings.LastIndexByte(path, '/')]
			uris = append(uris, id.TrustDomain().IDString()+path)
		}
	}
	var out []cases.Caller
	for _, uri := range shortestFirst(uris) {
		simpler := caller(policy.Request{URIs: []string{uri}}, c.TrustDomains[0])
		simpler.SourceIP = from.SourceIP
		out = append(out, simpler)
	}
	return out
}

// shortestFirst sorts texts by length, and drops those that stand twice.
func shortestFirst(texts []string) []string {
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return slices.Compact(texts)
}
