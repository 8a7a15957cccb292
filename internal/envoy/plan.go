package envoy

import (
	"context"
	"errors"
	"os"

	"github.com/meshproof/meshproof/internal/pin"
)

// Plan is a decision for one version and one runtime whose binary or image is at hand. It is immutable and holds no
// resources. It can be started again once the Envoy of the last start is closed.
type Plan struct {
	version string // empty for an ENVOY_IMAGE of which no version is asked
	options Options
	around  Surroundings
	dir     string // path of the run directory, which Start makes
	runner  runner
}

// runner is a runtime with everything it needs.
type runner interface {
	runtime() Runtime
	source() string   // the image or binary
	variable() string // the environment variable that names another
	start(ctx context.Context, p *Plan, bootstrap []byte) (*Envoy, error)
	digest(ctx context.Context, e *Envoy) (string, error)
}

// Prepare removes what killed runs left behind, settles version and runtime, and fetches the binary, or finds, pulls or
// builds the image, so that the servers Envoy needs can be bound before it starts. Failures of the machine are of type *[pin.Error].
func Prepare(ctx context.Context, o Options) (*Plan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	sweepDirs()
	bin, image := os.Getenv("ENVOY_BIN"), os.Getenv("ENVOY_IMAGE")
	switch {
	case o.Runtime == Process, o.Runtime == Auto && image == "" && bin != "":
		return prepareProcess(ctx, o, bin)
	case o.Runtime == Container, image != "":
		return prepareContainer(ctx, o, image, bin)
	}
	p, err := prepareContainer(ctx, o, image, bin)
	if err == nil || ctx.Err() != nil {
		return p, err
	}
	p, errProcess := prepareProcess(ctx, o, bin)
	if errProcess == nil || errors.Is(err, ErrNoDocker) || errors.Is(errProcess, pin.ErrUnknownVersion) {
		return p, errProcess
	}
	return nil, &pin.Error{Doing: "prepare Envoy as a process, for want of a container (" + oneLine(err.Error()) + ")", Reason: ErrStart, Cause: errProcess}
}

// String names the Envoy, as in "Envoy 1.40.0 as a process".
func (p *Plan) String() string {
	what := "Envoy " + p.version
	if p.version == "" {
		what = "Envoy of " + p.runner.source()
	}
	return what + " as a " + p.Runtime().String()
}

// Runtime is Container or Process.
func (p *Plan) Runtime() Runtime { return p.runner.runtime() }

// Surroundings tells what the bootstrap has to know.
func (p *Plan) Surroundings() Surroundings { return p.around }

// Start runs Envoy on a bootstrap in JSON and returns as soon as process or container are started. It does not wait for
// readiness; a bootstrap that Envoy rejects shows in [Envoy.Done]. ctx bounds the start only, not Envoy's life.
// The error is of type *[pin.Error].
func (p *Plan) Start(ctx context.Context, bootstrap []byte) (*Envoy, error) {
	return p.runner.start(ctx, p, bootstrap)
}
