package envoy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/meshproof/meshproof/internal/pin"
)

const (
	daemonTimeout = 5 * time.Second
	hintStart     = "start Docker or use the process runtime"
)

// configureTestcontainers leaves out its reaper, an image that would have to be pulled, because the watchdog and sweep
// do that work, unless the user wants it; and its log, which would go to standard error.
var configureTestcontainers = sync.OnceFunc(func() {
	const noReaper = "TESTCONTAINERS_RYUK_DISABLED"
	if _, set := os.LookupEnv(noReaper); !set {
		os.Setenv(noReaper, "true")
	}
	log.SetDefault(log.NewNoopLogger())
})

func noDocker(cause error, hint string) error {
	return &pin.Error{Doing: "connect to Docker", Reason: ErrNoDocker, Cause: cause, Hint: hint}
}

// dialDocker connects to the daemon of DOCKER_HOST or, where that is not set, to the one that testcontainers finds. The
// error is of type *[pin.Error].
func dialDocker(ctx context.Context) (*testcontainers.DockerClient, error) {
	configureTestcontainers()
	within, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	// testcontainers would report a DOCKER_HOST that does not answer as one failure of many, or pass over it.
	asked := os.Getenv("DOCKER_HOST")
	if asked != "" {
		if _, err := client.ParseHostURL(asked); err != nil {
			return nil, noDocker(fmt.Errorf("DOCKER_HOST=%s is no address such as unix:///var/run/docker.sock", asked), "correct DOCKER_HOST or use the process runtime")
		}
		if err := ping(within); err != nil {
			return nil, noDocker(fmt.Errorf("DOCKER_HOST=%s does not answer: %w", asked, brief(ctx, within, err)), hintStart)
		}
	}
	c, err := searchDocker(within)
	if err != nil {
		return nil, noDocker(fmt.Errorf("neither DOCKER_HOST nor a socket of Docker leads to one: %w", brief(ctx, within, err)), hintStart)
	}
	if found := c.DaemonHost(); asked != "" && asked != found {
		c.Close()
		return nil, noDocker(fmt.Errorf("DOCKER_HOST is %s, but testcontainers is set up for %s", asked, found), "set both to the same or use the process runtime")
	}
	return c, nil
}

// ping asks the daemon of DOCKER_HOST for a sign of life.
func ping(ctx context.Context) error {
	c, err := client.New(client.FromEnv)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Ping(ctx, client.PingOptions{})
	return err
}

func searchDocker(ctx context.Context) (c *testcontainers.DockerClient, err error) {
	defer func() { // it panics where it finds a rootless daemon's socket missing
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("testcontainers: %v", r)
		}
	}()
	return testcontainers.NewDockerClientWithOpts(ctx)
}

// brief keeps the one fact of a failed connection: the client words it in two sentences of advice, and testcontainers
// joins the failures of all places it tried, the most likely one first. within is ctx with a time limit.
func brief(ctx, within context.Context, err error) error {
	var op *net.OpError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case within.Err() != nil:
		return fmt.Errorf("waited for %v", daemonTimeout)
	case errors.As(err, &op):
		return op
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}
