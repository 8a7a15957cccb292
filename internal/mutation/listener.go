package mutation

import (
	"fmt"
	"iter"
	"slices"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/capability"
	"github.com/meshproof/meshproof/internal/mistake"
	"github.com/meshproof/meshproof/internal/mtls"
	"github.com/meshproof/meshproof/internal/proof"
	"github.com/meshproof/meshproof/internal/suite"
	"github.com/meshproof/meshproof/internal/verdict"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/classes"
	"github.com/meshproof/meshproof/policy/language"
)

// InboundMutants returns the mutants of an inbound: those of its program, see [Mutants], those of the selection of its
// policies, and those of what the policies say of its listener.
func InboundMutants(in verdict.Inbound, set language.Policies) ([]Mutant, Exclusions) {
	mutants, excluded := ProvenMutants(in)
	others, equivalent := ofListener(in, set)
	excluded.Equivalent += equivalent
	return append(mutants, others...), excluded
}

// ProvenMutants returns the mutants of an inbound that a proof is about: all but those of its listener, which a proof takes as given.
func ProvenMutants(in verdict.Inbound) ([]Mutant, Exclusions) {
	return mutantsOf(proof.Mistakes(in), in.Surface(), in.CanJudge, in.Program.Program)
}

// ofListener returns the mistakes in what the policies say of the listener: which callers it takes,
// and what becomes of paths. What policies leave to the case is no mistake of theirs. It counts the
// mistakes that change no decision.
func ofListener(in verdict.Inbound, set language.Policies) (mutants []Mutant, equivalent int) {
	mutant := func(k mistake.Kind, where string, fault suite.Fault, changes func(proof.Asked) bool) {
		mutants = append(mutants, Mutant{Mistake: mistake.Mistake{Kind: k, Where: where, Program: in.Program.Program}, Fault: fault, changes: changes})
	}
	for _, mode := range []mtls.Mode{mtls.Strict, mtls.Permissive, mtls.Disable} {
		if right := in.Program.MTLS; right != mtls.Unset && right != mode {
			mutant(mistake.OtherMode, fmt.Sprintf("the listener, which is %s", mode), suite.Fault{MTLS: mode}, func(q proof.Asked) bool {
				if q.From.Plaintext {
					return right.TakesPlaintext() != mode.TakesPlaintext()
				}
				return right.TakesTLS() != mode.TakesTLS() && !q.From.Anonymous
			})
		}
	}
	normalizer, ok := set.(capability.Normalizer)
	if !ok || in.Protocol.Layer() == policy.L4 {
		return mutants, 0
	}
	if _, stated := normalizer.Normalization(); !stated {
		return mutants, 0
	}
	surface := in.Surface()
	cover, n := classes.Cut(surface, in.Program.Program), surface.Normalization
	for where, other := range otherPaths(n) {
		changes := func(seen policy.Request, path string) bool {
			right, err := n.Apply(path)
			wrong, wrongErr := other.Apply(path)
			if err != nil || wrongErr != nil {
				return (err == nil) != (wrongErr == nil)
			}
			asRight, asWrong := seen, seen
			asRight.Path, asWrong.Path = right, wrong
			return policy.Decide(in.Program.Program, asRight) != policy.Decide(in.Program.Program, asWrong)
		}
		if !slices.ContainsFunc(cover.Classes, func(c classes.Class) bool {
			return slices.ContainsFunc(spellings(c.Witness.Path), func(path string) bool { return changes(c.Witness, path) })
		}) {
			equivalent++
			continue
		}
		mutant(mistake.OtherPaths, "the listener, "+where, suite.Fault{Paths: &other}, func(q proof.Asked) bool {
			return q.Judged && q.Path != "" && q.Want != cases.HandshakeFailure && changes(q.Seen, q.Path)
		})
	}
	return mutants, equivalent
}

// otherPaths yields the ways to normalize paths that differ from one in a single setting, each with
// what it does otherwise. That of no normalization at all is [mistake.RawPaths].
func otherPaths(n policy.PathNormalization) iter.Seq2[string, policy.PathNormalization] {
	return func(yield func(string, policy.PathNormalization) bool) {
		other := n
		if n.Raw {
			other.Raw = false
			yield("which resolves dots", other)
			return
		}
		if other.KeepSlashes = !n.KeepSlashes; !yield(map[bool]string{true: "which keeps slashes", false: "which merges slashes"}[other.KeepSlashes], other) {
			return
		}
		other = n
		if other.EscapedSlashes = policy.KeepEscapedSlashes; n.EscapedSlashes == policy.KeepEscapedSlashes {
			other.EscapedSlashes = policy.UnescapeSlashes
		}
		yield(fmt.Sprintf("whose action for escaped slashes is %s", other.EscapedSlashes), other)
	}
}

// spellings returns paths that some listeners take for the path.
func spellings(path string) (out []string) {
	for _, front := range []string{"/", "/.", "/x/..", "/x%2F..", "/%2F"} {
		out = append(out, front+path)
	}
	return out
}
