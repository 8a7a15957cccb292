// Package kuma reads Kuma's MeshTrafficPermission, selects the policies of one
// inbound and lowers them to a decision program.
//
// The policy is the inbound policy without matches: rules of deny,
// allowWithShadowDeny and allow lists, with identity, path and method matchers,
// in universal and in Kubernetes form. All rules of the selected policies are
// concatenated and never merged; every deny comes before every allow; what no
// matcher meets is denied by "default".
//
// The package guarantees that a policy it accepts means the same to [Lower] and
// to [Evaluate], two implementations that share the selection and nothing else,
// and that a policy without an effect is reported, by [Select] with the reason
// and by [Lint] with its place. Whatever it refuses, it refuses with file, line
// and field.
//
// It does not judge requests of plaintext callers (a permissive inbound lets
// them pass unjudged), it does not read the legacy from list, and it knows
// nothing of Envoy.
package kuma
