// Package result has what became of a case and of its requests: data that a runner fills
// in, and that proofs, reports and commands read.
//
// It guarantees that a case passes only without any problem and any error. It starts no
// Envoy and imports no harness.
package result
