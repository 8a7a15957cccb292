// Package differential holds a real Envoy against two opinions in Go about random sets of
// policies: [policy.Decide] of the lowered program, and the plain evaluator of the dialect,
// which share no code.
//
// [Fuzzer] draws sets with package policyset and runs many of them in one push. It
// guarantees that no disagreement is passed over, and that a reported disagreement is real:
// a [suite.Runner] runs the set again alone, and the set is shrunk to the smallest case that
// still shows the disagreement. That case can be written as a case file. The fuzzer does not
// prove a set: it asks a bounded sample of requests.
package differential
