package harness

import (
	"io"
	"time"

	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/pin"
)

// Option configures [Start].
type Option func(*options)

type options struct {
	envoy                                     envoy.Options
	connectTimeout, pushTimeout, adminTimeout time.Duration
	// concurrency, in a test, is the number of callers of a mesh that send at once; 0 for
	// freshConnections and keptConnections.
	concurrency int
	// upstreamPort, in a test, puts something between Envoy and the upstream.
	upstreamPort func(upstream int) (port int)
	// beforeOutbound, in a test, sees each entry of an outbound before the collector does.
	beforeOutbound func(outboundlog.Entry)
}

// How many callers of a mesh send at once.
const (
	// freshConnections is for callers of one request each. More of them would only wait
	// for Envoy's single worker.
	freshConnections = 8
	// keptConnections is for callers of many requests. With so many callers, Envoy and
	// this process find several requests each time they wake up.
	keptConnections = 32
)

// WithEnvoy chooses the version of Envoy, say "1.39.3". The default is
// [DefaultVersion].
func WithEnvoy(version string) Option {
	return func(o *options) { o.envoy.Version = version }
}

// WithRuntime chooses between a container and a process. The default is the zero value.
func WithRuntime(r Runtime) Option {
	return func(o *options) { o.envoy.Runtime = r }
}

// WithLog writes the log of Envoy to w.
func WithLog(w io.Writer) Option {
	return func(o *options) { o.envoy.Log = w }
}

// defaultMeshes is more than a machine needs at once, so that a test that does not close a
// mesh need not wait for ever.
const defaultMeshes = 64

// WithMeshes sets how many meshes can exist at once, 64 without it. Each has a port of its
// own. [Harness.NewMesh] waits if there are so many already.
func WithMeshes(n int) Option {
	return func(o *options) { o.envoy.Ports = max(n, 1) }
}

// DefaultVersion is the release of Envoy that runs where [WithEnvoy] names none.
const DefaultVersion = pin.DefaultVersion

// ErrUnknownVersion is wrapped by the error of [Start] where the version is not
// pinned, or where the Envoy at hand is another version than the one asked for.
var ErrUnknownVersion = pin.ErrUnknownVersion

// Runtime says how Envoy runs: [Container] or [Process]. The zero value takes ENVOY_IMAGE as a
// container, else ENVOY_BIN as a process, else a container where a Docker daemon answers and
// has an image, else a process. It has the methods String, MarshalText and UnmarshalText, with
// the texts "auto", "container" and "process", so that it can be the value of a command line
// flag.
type Runtime = envoy.Runtime

// The runtimes.
const (
	// Container runs Envoy in Docker.
	Container = envoy.Container
	// Process runs Envoy as a child process.
	Process = envoy.Process
)
