// Package policy holds the decision program: the one small form to which every
// dialect of authorization policy is lowered, and from which the Envoy filters
// are compiled.
//
// The package guarantees that [Decide] is a total function: every [Program]
// judges every [Request], without error and without side effect, exactly as an
// Envoy RBAC filter that was compiled from the program would. It is therefore
// the oracle against which the real Envoy is held.
//
// It does not know any dialect's schema (the packages below it do), it does not
// know Envoy's messages (package xds does), and it judges callers that speak
// TLS only: what happens to a failed handshake or to plaintext is decided by the
// listener, before any program is asked.
package policy
