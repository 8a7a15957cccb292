// Package verdict says what must become of a request, and whether it did.
//
// [Read] reads the policies of a case, once. [Inbound.Expect] says what must become of a
// request to one of its inbounds: the TLS handshake fails, the listener answers 400, the
// request passes unjudged, or the policies decide it. [Judge] holds the evidence of the
// request against that, and against what the case states. The two are a [Property].
//
// The package guarantees that all commands judge alike: run, prove, verify, fuzz and mutate
// ask here. Only this package knows the mTLS mode of an inbound and what it means for
// plaintext, how a listener normalizes a path, and which requests reach an inbound.
//
// It sends nothing and knows no harness.
package verdict
