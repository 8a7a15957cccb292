// Package mutation measures whether a suite notices mistakes. It makes one mistake at a time
// in the compiled policies of a case and runs the case. A mistake that the case passes with
// survives: it shows what the case does not test.
//
// The mistakes are mistakes of real compilers and control planes: a deny after an allow, an
// exact match that became a prefix, a lost rule, and others; see [Kind]. A change that
// changes no decision is no mistake. [classes.Of] finds such changes, so no list of them is
// needed. Changes that Envoy refuses do not count either. The package guarantees that a
// mutant counts as killed only when a real Envoy ran it and the case failed.
package mutation
