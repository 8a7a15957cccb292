// Package dataplane reads Kuma's Dataplanes: the workloads of a mesh and their inbounds,
// as far as policies select by them.
//
// It guarantees that a Dataplane it returns has an identifier, and that no two of its
// inbounds share a section. What says nothing about who may call an inbound is read
// over.
package dataplane
