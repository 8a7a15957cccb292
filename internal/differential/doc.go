// Package differential draws sets of policies at random and holds a real Envoy against
// two opinions in Go that share no code: [policy.Decide] of the lowered program, and the
// plain evaluator of the dialect.
//
// A set is what users write: several policies of one dialect that select, overlap and
// hide each other, and the inbounds of one or two workloads. All names come from small
// alphabets whose members are alike (ns/a, ns/ab), for what never collides is decided by
// nothing. [Generate] makes a set of a seed and a number, the same one on every machine;
// [GenerateFrom] makes one of bytes, for a fuzzer that looks at coverage.
//
// [Fuzzer] runs many sets in one push and asks each inbound for some of its request
// classes and their neighbours. It guarantees that no disagreement is passed over, and
// that a reported one is real: its set is run again alone, by a [suite.Runner], shrunk to
// the smallest case that still shows it, and can be written as a case file. It does not
// prove a set as package proof does: of each inbound it asks a bounded sample.
package differential
