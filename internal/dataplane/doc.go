// Package dataplane reads Kuma's Dataplanes: the workloads of a mesh and their inbounds.
// It keeps what policies select by.
//
// It guarantees that a Dataplane has an identifier, and that each of its inbounds has a
// section of its own. It accepts and drops the fields that say nothing about the callers
// of an inbound.
package dataplane
