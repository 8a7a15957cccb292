package harness

import (
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/pin"
)

// DefaultVersion is the release of Envoy that runs where [WithEnvoy] names none.
const DefaultVersion = pin.DefaultVersion

// ErrUnknownVersion is wrapped by the error of [Start] where the version is not
// pinned, or where the Envoy at hand is another version than the one asked for.
var ErrUnknownVersion = pin.ErrUnknownVersion

// Runtime says how Envoy runs: [Auto], [Container] or [Process]. It has the methods
// String, MarshalText and UnmarshalText, with the texts "auto", "container" and
// "process", so that it can be the value of a command line flag.
type Runtime = envoy.Runtime

// The runtimes.
const (
	// Auto takes ENVOY_IMAGE as a container, else ENVOY_BIN as a process, else a
	// container where a Docker daemon answers and has an image, else a process.
	Auto = envoy.Auto
	// Container runs Envoy in Docker.
	Container = envoy.Container
	// Process runs Envoy as a child process.
	Process = envoy.Process
)
