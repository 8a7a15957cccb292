// Package suite runs cases on a harness and gives the verdict: does the evidence
// show what the oracle says and what the case wants?
//
// It guarantees that a request passes only where all opinions agree: the case,
// the decision program, the plain evaluator of the dialect, and the real Envoy
// with all its evidence; and that the counters of every inbound moved by exactly
// what the single findings add up to. The filters come from a [Compiler]; the
// opinions never do, so that a wrong compiler is found out. Where policies must be
// refused, meshproof's own reading gives the expected reason, and the compiler under
// test has to refuse them as well, in words of its own.
package suite
