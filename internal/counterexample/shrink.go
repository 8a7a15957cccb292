package counterexample

import (
	"context"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/casewriter"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy/language"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The bounds of one shrinking: how many cases are run, and how many are made at all. Most
// cases that are made do not parse, or were run before. A case counts once more for each
// candidateSize bytes of its text, for it takes that much longer to read.
const (
	mostTries      = 2_000
	mostCandidates = 10 * mostTries
	candidateSize  = 1_024
)

// Shrink returns the smallest case it finds that shows what is wrong with request q of
// case c. It leaves out policies, list items and fields of policies, inbounds, trust
// domains, options and labels, and it makes the request plain.
//
// The function shows runs a case and reports whether its request is not decided as
// specified. Where it cannot tell, it returns false. Shrink asks it 2,000 times at most.
// Each case that it is asked about was read from a case file and has one request. What
// that request wants is what [policy.Decide] says of the case's policies, and it is what
// was wanted of q. So the result fails in the same way when it is written to a file and
// run. Shrink does not tell one disagreement from another: that is up to shows.
//
// Where ctx ends, Shrink returns the smallest case so far. Where q alone does not show
// the disagreement, Shrink returns c. The same answers of shows give the same case.
func Shrink(ctx context.Context, shows func(ctx context.Context, r *verdict.Reading) bool, c cases.Case, q cases.Request) cases.Case {
	s := &shrinker{ctx: ctx, shows: shows, tries: mostTries, candidates: mostCandidates}
	return s.shrink(c, q)
}

func (s *shrinker) shrink(c cases.Case, q cases.Request) cases.Case {
	s.stated, s.root = q.Want, newTrees(c.Policies)
	s.seen, s.documents = map[string]bool{}, map[string]manifest.Document{}
	q.By, q.Shadow, q.ShadowBy = nil, nil, nil
	s.smallest.c = cases.Case{
		Name: "counterexample", TrustDomains: c.TrustDomains, Options: c.Options, Normalization: c.Normalization,
		Inbounds: c.Inbounds, Requests: []cases.Request{q},
	}
	if !s.begin() {
		return c
	}
	s.smaller()
	return s.named()
}

// smaller leaves out parts until no part can be left out, or the bounds end it.
func (s *shrinker) smaller() {
	for text := ""; text != s.text && !s.ended(); {
		text = s.text
		s.inbounds()
		s.trees(list)
		s.trees(mapping)
		if s.routed {
			s.routedRequest()
			s.peerLabels()
		} else {
			s.request()
		}
		s.surroundings()
	}
}

// shrinker holds the smallest case so far, and the cases that were tried.
type shrinker struct {
	ctx    context.Context
	shows  func(context.Context, *verdict.Reading) bool
	stated cases.Want
	// want is the same for all candidates.
	want cases.Want
	// letIn says that the request wants a policy to deny a caller that mTLS keeps out.
	letIn bool
	// routed says that the request goes through a sidecar.
	routed bool
	// root is the list of the policies that the shrinking began with.
	root *tree

	// smallest is the smallest case so far, text the text that it was read from.
	smallest candidate
	text     string

	// seen has the texts of the cases that were tried, documents the policies by their
	// text.
	seen      map[string]bool
	documents map[string]manifest.Document
	// tries and candidates count what is left of the bounds.
	tries, candidates int
}

// candidate is a case. Its policies are those of the root without the removed nodes.
type candidate struct {
	c       cases.Case
	removed map[*tree]bool
}

// ended reports whether the shrinking has to end.
func (s *shrinker) ended() bool {
	return s.ctx.Err() != nil || s.tries == 0 || s.candidates <= 0
}

// begin tries the case that the shrinking starts from.
func (s *shrinker) begin() bool {
	first := s.smallest
	if slices.IndexFunc(first.c.Inbounds, func(in cases.Inbound) bool { return in.String() == first.c.Requests[0].To }) < 0 {
		return false
	}
	// Any request may want deny, so the case can be read.
	c, _, ok := s.read(first, cases.Deny)
	if !ok {
		return false
	}
	reading, err := verdict.Read(c)
	if err != nil {
		return false
	}
	_, keptOut := s.expected(reading).(verdict.HandshakeFails)
	s.letIn = keptOut && s.stated != cases.HandshakeFailure
	s.want = s.wanted(reading)
	return s.take(first)
}

// take makes the candidate the smallest case, if it is smaller and shows the
// disagreement.
func (s *shrinker) take(next candidate) bool {
	if s.ended() {
		return false
	}
	s.candidates--
	c, text, ok := s.read(next, s.want)
	s.candidates -= len(text) / candidateSize
	if !ok || s.seen[text] || s.text != "" && len(text) >= len(s.text) {
		return false
	}
	s.seen[text] = true
	reading, err := verdict.Read(c)
	switch {
	case err != nil:
		return false
	case s.routed && !canState(reading), !s.routed && s.wanted(reading) != s.want:
		return false
	}
	s.tries--
	// The answer of a run that was cut off does not count.
	if !s.shows(s.ctx, reading) || s.ctx.Err() != nil {
		return false
	}
	s.smallest, s.text = candidate{c, next.removed}, text
	return true
}

// read writes the candidate and reads it back.
func (s *shrinker) read(next candidate, want cases.Want) (c cases.Case, text string, ok bool) {
	docs, err := s.policies(next)
	if err != nil {
		return cases.Case{}, "", false
	}
	if s.routed {
		return s.readRouted(next.c, docs)
	}
	next.c.Policies = docs
	next.c.Requests = slices.Clone(next.c.Requests)
	next.c.Requests[0].Want = want
	written := casewriter.YAML(next.c)
	all, err := cases.Parse(next.c.Name+".yaml", written)
	if err != nil || len(all) != 1 || len(all[0].Requests) != 1 {
		return cases.Case{}, "", false
	}
	return all[0], string(written), true
}

// inbounds leaves out the inbounds that the request does not go to, and workloads without an
// inbound.
func (s *shrinker) inbounds() {
	all := s.smallest.c.Inbounds
	to := func(in cases.Inbound) bool { return !s.routed && in.String() == s.smallest.c.Requests[0].To }
	var others []string
	for _, in := range all {
		if !to(in) {
			others = append(others, in.String())
		}
	}
	minimize(others, func(kept []string) bool {
		next := s.smallest
		next.c.Inbounds = slices.DeleteFunc(slices.Clone(all), func(in cases.Inbound) bool { return !to(in) && !slices.Contains(kept, in.String()) })
		// A workload goes with the last of its inbounds.
		next.c.Options.Peers = slices.DeleteFunc(slices.Clone(next.c.Options.Peers), func(peer language.Peer) bool {
			return hasInbound(all, peer) && !hasInbound(next.c.Inbounds, peer)
		})
		return s.take(next)
	})
	peers := s.smallest.c.Options.Peers
	minimize(peers, func(kept []language.Peer) bool {
		next := s.smallest
		next.c.Options.Peers = kept
		return s.take(next)
	})
}

func hasInbound(all []cases.Inbound, peer language.Peer) bool {
	return slices.ContainsFunc(all, func(in cases.Inbound) bool { return in.Workload.Name == peer.Workload.Name })
}

// trees leaves out children of all nodes of a kind, the root first. The children of the
// root are whole policies.
func (s *shrinker) trees(of kind) {
	for queue := []*tree{s.root}; len(queue) > 0; queue = queue[1:] {
		node := queue[0]
		if node.kind == of {
			s.shrinkChildren(node)
		}
		queue = append(queue, s.smallest.alive(node)...)
	}
}

func (s *shrinker) shrinkChildren(node *tree) {
	all := s.smallest.alive(node)
	minimize(all, func(kept []*tree) bool {
		next := candidate{s.smallest.c, maps.Clone(s.smallest.removed)}
		if next.removed == nil {
			next.removed = map[*tree]bool{}
		}
		for _, child := range all {
			next.removed[child] = true
		}
		for _, child := range kept {
			delete(next.removed, child)
		}
		return s.take(next)
	})
}

// policies reads what is left of the policies.
func (s *shrinker) policies(of candidate) ([]manifest.Document, error) {
	var docs []manifest.Document
	for _, policy := range of.alive(s.root) {
		text := of.text(policy)
		doc, ok := s.documents[text]
		if !ok {
			parsed, err := manifest.Parse("policy", []byte(text))
			if err != nil {
				return nil, err
			}
			// Nothing is left of the policy where there is no document.
			if len(parsed) == 1 {
				doc = parsed[0]
			}
			s.documents[text] = doc
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

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
