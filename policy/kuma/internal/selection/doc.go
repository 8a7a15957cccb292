// Package selection finds the MeshTrafficPermissions that apply to one inbound, and
// their order.
//
// It guarantees that the result does not depend on the order of the policies, and
// that each policy that does not apply has its reason. It reads no rule: what a
// policy says of a request is no concern of it.
package selection
