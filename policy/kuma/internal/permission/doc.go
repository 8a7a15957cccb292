// Package permission reads MeshTrafficPermission in universal and Kubernetes form.
//
// A policy has rules, or the legacy from. Rules have deny, allowWithShadowDeny and
// allow lists ([Option1], and [Option2] with a single item), or conditions and an
// action ([Option3]). The items of from name clients by the tags in their
// certificates.
//
// The package guarantees that a policy is immutable, and that a refusal names file,
// line and field. What a policy decides is the business of packages selection,
// lowering and evaluation.
package permission
