// Package verify holds what a live sidecar enforces against policies. It matches the
// inbounds of the sidecar with those that the policies are about, plans a proof for each
// pair, and names everything that no proof covers.
//
// It guarantees that nothing is passed over: each inbound of either side is proven, or
// unverified for a reason, or left out because the sidecar is of another Dataplane. It
// reads no files and starts no Envoy.
package verify
