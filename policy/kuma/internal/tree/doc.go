// Package tree holds the decision tree of MeshTrafficPermission with conditions
// (Option 3): rules of one action are one group, each inner node asks the
// condition of one group, and each leaf merges the actions of the groups that
// the way to it has met.
//
// It guarantees that a tree decides as its rules do, pruned or not: the heaviest
// action of those that apply, Deny over AllowWithShadowDeny over Allow, and a
// denial where none does. Its text and its drawing show every node.
//
// It knows neither policies nor inbounds, and it does not optimize beyond what
// [Node.Prune] says.
package tree
