// Package policy holds the decision program. Every dialect of authorization policy is
// lowered to this one small form, and package xds compiles the filters of Envoy from it.
//
// The package guarantees that [Decide] is a total function: every [Program] judges every
// [Request], without error and without side effect, exactly as an Envoy RBAC filter that
// was compiled from the program. So it is the oracle that the answers of the real Envoy
// are compared with.
//
// It does not know the schema of a dialect, for which there are packages of their own. It
// does not know Envoy's messages, which are the business of package xds. It does not know
// how a caller connects: a request without names comes from a TLS caller without a
// certificate, or from a plaintext caller where a dialect judges those too. A failed
// handshake ends before any program is asked.
package policy
