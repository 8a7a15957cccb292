// Package envoy runs Envoy, as a child process or as a container.
//
// [Prepare] chooses version and runtime, and gets the binary or the image. Its [Plan] tells, with [Surroundings], what a
// bootstrap has to know about the place where Envoy will run. [Plan.Start] runs Envoy on a bootstrap. The package knows
// nothing of xDS or policies, and it does not wait until Envoy is ready: the caller sees its own ADS stream open.
//
// What it guarantees:
//   - Package pin guarantees the binary. If pip is missing, the binary comes from an image, which is trusted; it ran once
//     to show its version.
//   - [Envoy.Version] is what the running Envoy says. It is an error if that is not the version that was asked for.
//   - The bootstrap of a process holds private keys. It goes through a FIFO in a private directory and is never written to a
//     disk. The bootstrap of a container is a file of mode 0400 in a volume of its own, which goes with the container.
//   - A container has no root user, no writable root, no capability, and limits of memory and processes. Its admin endpoint
//     binds its own loopback, and the gate before it takes the certificate of the lab only.
//   - On Linux this process holds the ports of an Envoy process as long as Envoy lives, so that no other program can take
//     one.
//   - Nothing is left behind, however this process ends: a watchdog removes process, container and directory. Where the
//     watchdog is killed too, the next Prepare removes what is left.
//
// What it does not:
//   - It supports Linux and macOS only, and a Docker daemon of the same machine only.
//   - Other containers of Docker's default bridge, and other users of the machine, can open connections to the listeners of
//     a mesh. What they send moves counters, so that the batch fails; it cannot enter the evidence of a caller.
//
// Environment: ENVOY_BIN (path of a binary) and ENVOY_IMAGE (an image) override what would be fetched, pulled or built.
package envoy
