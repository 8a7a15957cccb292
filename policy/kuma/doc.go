// Package kuma is the dialect of Kuma: MeshTrafficPermission in its three designs
// with SPIFFE IDs, and the legacy form with from and tags.
//
// It guarantees that a policy it accepts means the same to the program and to the
// second opinion, two implementations that share the selection and nothing else;
// that a policy without an effect is reported; and that a refusal names file, line
// and field.
//
// It does not judge plaintext callers: a permissive inbound lets them pass. It
// knows nothing of Envoy.
package kuma
