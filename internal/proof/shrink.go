package proof

import (
	"context"
	"maps"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/policy/manifest"
)

// The bounds of one shrinking: how often still is asked, and how many cases are made
// at all, of which most do not parse or were asked before.
const (
	mostTries      = 2_000
	mostCandidates = 10 * mostTries
)

// Shrink returns the smallest case it finds that shows what is wrong with the request
// q of c: as few policies as it takes, and of those as few list items and entries; one
// inbound, where that is enough; one request, as plain as can be; no trust domain,
// option or label without need.
//
// Still runs a case and reports whether its request is not decided as specified; where
// it cannot tell, it returns false. What it takes for one and the same disagreement is
// its own affair: one that a wrong name satisfies as well as a wrong decision may be
// led from the latter to the former. It is asked 2,000 times at most, always about a
// case that was read from a case file, has one request, and wants of it what
// [policy.Decide] says of its policies, which is what is wanted of q. So what is
// returned fails when it is written to a file and run, and fails in the same way.
//
// Where ctx ends, the smallest case so far is returned. Where q alone does not show
// it, c is. The same still gives the same case.
func Shrink(ctx context.Context, still func(ctx context.Context, c cases.Case) bool, c cases.Case, q cases.Request) cases.Case {
	s := &shrinker{ctx: ctx, still: still, tries: mostTries, candidates: mostCandidates}
	return s.shrink(c, q)
}

func (s *shrinker) shrink(c cases.Case, q cases.Request) cases.Case {
	s.stated, s.root = q.Want, newTrees(c.Policies)
	s.seen, s.documents = map[string]bool{}, map[string]manifest.Document{}
	q.By, q.Shadow, q.ShadowBy = nil, nil, nil
	s.at.c = cases.Case{
		Name: "counterexample", TrustDomains: c.TrustDomains, Options: c.Options, Normalization: c.Normalization,
		Inbounds: c.Inbounds, Requests: []cases.Request{q},
	}
	if !s.begin() {
		return c
	}
	for text := ""; text != s.text && !s.over(); {
		text = s.text
		s.inbounds()
		s.trees(list)
		s.trees(mapping)
		s.request()
		s.surroundings()
	}
	return s.named()
}

// shrinker holds the smallest case so far, and what was tried for it.
type shrinker struct {
	ctx    context.Context
	still  func(context.Context, cases.Case) bool
	stated cases.Want
	// want is the same for all candidates.
	want cases.Want
	// root is the list of the policies as they came.
	root *tree

	// at is the smallest case so far as it was read from text.
	at   candidate
	text string

	// seen are the texts of what was tried, documents those of its policies, read.
	seen      map[string]bool
	documents map[string]manifest.Document
	// How many are left.
	tries, candidates int
}

// candidate is a case whose policies are those of the root, less what was removed.
type candidate struct {
	c       cases.Case
	removed map[*tree]bool
}

// over reports whether no candidate may be tried any more.
func (s *shrinker) over() bool {
	return s.ctx.Err() != nil || s.tries == 0 || s.candidates == 0
}

// begin tries what the shrinking starts from.
func (s *shrinker) begin() bool {
	first := s.at
	if slices.IndexFunc(first.c.Inbounds, func(in cases.Inbound) bool { return in.String() == first.c.Requests[0].To }) < 0 {
		return false
	}
	// Deny may be wanted of any request, so that the case can be read.
	c, _, ok := s.read(first, cases.Deny)
	if !ok {
		return false
	}
	if s.want, ok = s.wanted(c); !ok {
		return false
	}
	return s.take(first)
}

// take makes the candidate the smallest case, where it is one and still shows it.
func (s *shrinker) take(next candidate) bool {
	if s.over() {
		return false
	}
	s.candidates--
	c, text, ok := s.read(next, s.want)
	if !ok || s.seen[text] || s.text != "" && len(text) >= len(s.text) {
		return false
	}
	s.seen[text] = true
	if want, ok := s.wanted(c); !ok || want != s.want {
		return false
	}
	s.tries--
	// What a run says that was cut off is nothing to rely on.
	if !s.still(s.ctx, c) || s.ctx.Err() != nil {
		return false
	}
	s.at, s.text = candidate{c, next.removed}, text
	return true
}

// read writes the candidate and reads it back.
func (s *shrinker) read(next candidate, want cases.Want) (c cases.Case, text string, ok bool) {
	var err error
	if next.c.Policies, err = s.policies(next); err != nil {
		return cases.Case{}, "", false
	}
	next.c.Requests = slices.Clone(next.c.Requests)
	next.c.Requests[0].Want = want
	written := next.c.YAML()
	all, err := cases.Parse(next.c.Name+".yaml", written)
	if err != nil || len(all) != 1 || len(all[0].Requests) != 1 {
		return cases.Case{}, "", false
	}
	return all[0], string(written), true
}

// inbounds leaves out all that the request does not go to.
func (s *shrinker) inbounds() {
	all := s.at.c.Inbounds
	to := func(in cases.Inbound) bool { return in.String() == s.at.c.Requests[0].To }
	var others []string
	for _, in := range all {
		if !to(in) {
			others = append(others, in.String())
		}
	}
	minimize(others, func(kept []string) bool {
		next := s.at
		next.c.Inbounds = slices.DeleteFunc(slices.Clone(all), func(in cases.Inbound) bool { return !to(in) && !slices.Contains(kept, in.String()) })
		return s.take(next)
	})
}

// trees leaves out what hangs below nodes of a kind, from the root on: below the root
// are whole policies.
func (s *shrinker) trees(of kind) {
	for queue := []*tree{s.root}; len(queue) > 0; queue = queue[1:] {
		node := queue[0]
		if node.kind == of {
			s.below(node)
		}
		queue = append(queue, s.at.alive(node)...)
	}
}

func (s *shrinker) below(node *tree) {
	all := s.at.alive(node)
	minimize(all, func(kept []*tree) bool {
		next := candidate{s.at.c, maps.Clone(s.at.removed)}
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

// policies are what is left of the policies.
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
			// A policy of nothing is no document of its own.
			if len(parsed) == 1 {
				doc = parsed[0]
			}
			s.documents[text] = doc
		}
		docs = append(docs, doc)
	}
	return docs, nil
}
