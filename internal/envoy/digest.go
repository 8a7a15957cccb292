package envoy

import (
	"context"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/internal/pin"
)

// Digest returns the SHA-256 of the binary that runs, in hex. It reads the whole of it, which takes some tenths of a
// second, and fails where a container is gone or holds the binary elsewhere.
func (e *Envoy) Digest(ctx context.Context) (string, error) {
	digest, err := e.plan.runner.digest(ctx, e)
	if err != nil {
		return "", fmt.Errorf("envoy: read the binary of %s: %w", e.plan.runner.source(), err)
	}
	return digest, nil
}

func (pr process) digest(context.Context, *Envoy) (string, error) { return fileDigest(pr.bin) }

func (docker) digest(ctx context.Context, e *Envoy) (digest string, err error) {
	c, err := dialDocker(ctx)
	if err != nil {
		return "", err
	}
	defer c.Close()
	err = readBinary(ctx, c, e.container, func(binary io.Reader) (err error) {
		digest, err = pin.Digest(binary)
		return err
	})
	return digest, err
}
