// Package lowering turns the MeshTrafficPermissions that apply to an inbound into a
// decision program, in the way of each of the three options and of the legacy form.
//
// It guarantees that every deny comes before every allow, and that a request which
// no matcher meets is denied by "default". It selects no policy.
package lowering
