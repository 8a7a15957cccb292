// Package kuma is the dialect of Kuma: MeshTrafficPermission in its three designs
// with SPIFFE IDs, and the legacy form with from and tags.
//
// It guarantees that the program and the second opinion decide alike: the two
// implementations share nothing but the selection. It reports a policy without an
// effect. A refusal names file, line and field.
//
// It does not judge plaintext callers: a permissive inbound lets them pass. It
// knows nothing of Envoy.
package kuma
