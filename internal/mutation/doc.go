// Package mutation asks of a suite whether it would notice: it makes one mistake at a
// time in what a case's policies compile to, and runs the case on it. A mistake that the
// case passes with has survived, and says what the case does not test.
//
// The mistakes are those that compilers and control planes make: a deny behind an allow,
// an exact match turned prefix, a rule lost, and more, see [Kind]. One that changes no
// decision of any request is no mistake; [classes.Of] finds it out, nobody has to say
// so. One that Envoy does not take is left out, too. The package guarantees that a mutant
// counts as killed only where a real Envoy ran it and the case failed.
package mutation
