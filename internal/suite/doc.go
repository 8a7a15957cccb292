// Package suite runs cases on a harness and judges them: does the evidence show what the
// policies say and what the case wants?
//
// It guarantees that a request passes only where all opinions agree: the case, the decision
// program, the plain evaluator of the dialect, and the real Envoy with all its evidence; and
// that the counters of every inbound moved by exactly what the single findings add up to. A
// [Compiler] gives the filters and never an opinion, so a wrong compiler is found out. Where
// the policies must be refused, meshproof's own reading gives the expected reason, and the
// compiler under test has to refuse them as well, in words of its own.
//
// A [Runner] runs a case in a mesh of its own, or many cases together in one mesh. Both ways
// judge alike.
package suite
