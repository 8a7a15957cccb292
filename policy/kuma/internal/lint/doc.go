// Package lint warns of MeshTrafficPermissions that are legal but may not do what
// their author means.
//
// It guarantees that a warning names file, line and field, and that a rule without
// any effect on the given inbounds has a warning. It changes no decision.
package lint
