// Package conformance runs the suites against a compiler and reports how far it
// conforms: which profiles it supports, on which versions of Envoy.
//
// [Run] is the whole of it for a test of another module; [Suite] does the same for a
// program. Which cases count is data: [Selection] says what the compiler claims,
// [Shard] which part of the cases this machine takes.
//
// The package guarantees that every case of the chosen profiles is in the report:
// passed, failed, or skipped with the reason why. A case never fails for a feature
// that the compiler does not claim, and is never left out for one that it does.
package conformance
