// Package clusterobject reads what one object of a cluster says of itself: its identity, what it may mean to a mesh, of which
// control plane, tool or workload it is, and where a tool by it takes manifests from.
//
// It guarantees that the world is closed: an object of which no table says that it cannot matter is [Unknown], and so is one that says more than
// its table has. The tables are data. It compares nothing, and it reads no policy: the dialects do.
package clusterobject
