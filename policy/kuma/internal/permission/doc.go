// Package kuma reads Kuma's MeshTrafficPermission, selects the policies of one
// inbound and lowers them to a decision program.
//
// The policy is the inbound policy without matches: rules of deny,
// allowWithShadowDeny and allow lists, with identity, path and method matchers,
// in universal and in Kubernetes form. All rules of the selected policies are
// concatenated and never merged; every deny comes before every allow; what no
// matcher meets is denied by "default".
//
// The two other designs are options: [Option2] merges the lists of all policies to
// one conf, as the conf declares, and [Option3] has rules with conditions and an
// action, which become the decision tree of package tree. [Convert] rewrites
// policies between the three, which let in and refuse the same requests.
//
// The legacy form is read too: from items that name clients by the tags in their
// certificates, of which the last that meets a client decides. It governs an
// inbound to which no policy with rules applies; package legacy compiles it.
//
// The package guarantees that a policy it accepts means the same to [Lower] and
// to [Evaluate], two implementations that share the selection and nothing else,
// and that a policy without an effect is reported, by [Select] with the reason
// and by [Lint] with its place. Whatever it refuses, it refuses with file, line
// and field.
//
// It does not judge requests of plaintext callers (a permissive inbound lets
// them pass unjudged), and it knows nothing of Envoy.
package permission
