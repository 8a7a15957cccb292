package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/meshproof/meshproof/harness"
	"github.com/meshproof/meshproof/internal/flagvalue"
)

// envoyFlags are the flags that say which Envoy is asked, and how it is run.
type envoyFlags struct {
	version string
	runtime harness.Runtime
}

func (e *envoyFlags) add(cmd *cobra.Command) {
	flags := newFlags()
	flags.StringVar(&e.version, "envoy", "", "version of Envoy, see meshproof envoy list (default "+harness.DefaultVersion+", or the version of ENVOY_BIN or ENVOY_IMAGE)")
	flags.Var(flagvalue.Text(&e.runtime, "auto|container|process"), "runtime", "how to run Envoy")
	addGroup(cmd, labEnvoy, flags)
	completeValues(cmd, "runtime")
	completeFunc(cmd, "envoy", completeVersions)
}

// start boots the Envoy.
func (e *envoyFlags) start(ctx context.Context) (*harness.Harness, error) {
	h, err := harness.Start(ctx, harness.WithEnvoy(e.version), harness.WithRuntime(e.runtime))
	if err != nil {
		return nil, startError(err)
	}
	context.AfterFunc(ctx, func() { _ = h.Close() }) // not all work looks at its context
	return h, nil
}

// startNear boots the Envoy of the flag, or else of the version, or else of the default where
// that version cannot be had.
func (e envoyFlags) startNear(ctx context.Context, version string) (*harness.Harness, error) {
	if e.version == "" && version != "" {
		near := e
		near.version = version
		if h, err := near.start(ctx); err == nil || ctx.Err() != nil {
			return h, err
		}
	}
	return e.start(ctx)
}

// startError tells an unknown version, which is bad input, from a machine that cannot run
// Envoy.
func startError(err error) error {
	if errors.Is(err, harness.ErrUnknownVersion) {
		return err
	}
	return machineError(err)
}
