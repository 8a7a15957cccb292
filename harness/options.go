package harness

import (
	"cmp"
	"io"
	"time"

	"github.com/meshproof/meshproof/internal/envoy"
)

// Option configures [Start].
type Option func(*options)

type options struct {
	envoy       envoy.Options
	concurrency concurrency
	pushTimeout time.Duration
}

// concurrency is the number of callers of a mesh that are under way at once; 0 leaves
// it to the harness.
type concurrency int

const (
	// freshConnections is for callers of one request each. More of them only queue in
	// front of Envoy's single worker.
	freshConnections = 8
	// keptConnections is for callers that stay: with so many of them each wake-up of
	// Envoy, and of this process, finds several at once.
	keptConnections = 32
)

func (c concurrency) fresh() int { return cmp.Or(int(c), freshConnections) }

func (c concurrency) kept() int { return cmp.Or(int(c), keptConnections) }

// WithEnvoy chooses the version of Envoy, say "1.39.3". The default is
// [DefaultVersion].
func WithEnvoy(version string) Option {
	return func(o *options) { o.envoy.Version = version }
}

// WithRuntime chooses between a container and a process. The default takes a
// container where a Docker daemon answers.
func WithRuntime(r Runtime) Option {
	return func(o *options) { o.envoy.Runtime = r }
}

// WithLog gets Envoy's own log.
func WithLog(w io.Writer) Option {
	return func(o *options) { o.envoy.Log = w }
}

// defaultMeshes is more than a machine runs at once with profit, so that a test
// that forgets to close some does not wait for ever.
const defaultMeshes = 64

// WithMeshes sets how many meshes can be up at once, 64 if it is not used; each
// has a port of its own. [Harness.NewMesh] waits where there are as many already.
func WithMeshes(n int) Option {
	return func(o *options) { o.envoy.Ports = max(n, 1) }
}

// WithConcurrency sets how many callers of one mesh are under way at once; 1
// sends one request after the other. Without it they are 8 in [Mesh.Send], and 32 that
// share a connection between requests in [Mesh.Stream].
func WithConcurrency(n int) Option {
	return func(o *options) { o.concurrency = concurrency(max(n, 1)) }
}
