// Package tree has the decision tree of Option 3, MeshTrafficPermission with
// conditions. Rules of one action are one group. Each inner node asks the condition of
// one group. Each leaf merges the actions of the groups whose condition was met on the
// way to it.
//
// It guarantees that a tree decides as its rules do, pruned or not: the heaviest action
// that applies wins (Deny over AllowWithShadowDeny over Allow), and a request without
// an action is denied. Its text and its drawing show every node.
//
// It knows neither policies nor inbounds, and [Node.Prune] is its only optimization.
package tree
