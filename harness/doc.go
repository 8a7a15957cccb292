// Package harness boots a real Envoy and asks it.
//
// [Start] brings up Envoy, in a container or as a process, together with its
// control plane and an upstream. A [Mesh] is a set of inbounds behind one port of
// that Envoy; any number of meshes live on one Envoy side by side. [Mesh.Send]
// plays callers and returns the evidence that each request left on all sides;
// [Mesh.Stream] does so many times as fast where requests can share connections.
//
// The package guarantees that a mesh is live when it is returned, that every
// batch of requests carries a positive control, so that a dead Envoy never looks
// like a deny, that verdicts are never retried, and that nothing is left behind:
// no container, no process, no file, also where the process is killed.
//
// It knows nothing of policies: it takes filters and returns evidence.
package harness
