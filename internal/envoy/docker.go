package envoy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/log"

	"github.com/meshproof/meshproof/internal/pin"
)

const bridgeNetwork = "bridge" // Docker's default network

// daemon describes the Docker daemon.
type daemon struct {
	host string // as for DOCKER_HOST: a UNIX socket
	// gateway is this machine's address on the daemon's default bridge. It is invalid if the bridge ends elsewhere, for
	// example in the virtual machine of Docker Desktop. Then Docker must publish the ports.
	gateway netip.Addr
}

// findDaemon finds a Docker daemon of this machine that answers.
func findDaemon(ctx context.Context) (daemon, error) {
	c, err := dialDocker(ctx)
	if err != nil {
		return daemon{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	d := daemon{host: c.DaemonHost()}
	if !strings.HasPrefix(d.host, "unix://") {
		return daemon{}, noDocker(fmt.Errorf("the daemon at %s is not on this machine, and Envoy could not connect back", d.host), "use the process runtime")
	}
	if d.gateway, err = bridgeGateway(ctx, c); err != nil {
		return daemon{}, noDocker(err, hintStart)
	}
	if _, err := os.Stat("/.dockerenv"); err == nil && !d.gateway.IsValid() {
		return daemon{}, noDocker(errors.New("this process runs in a container and the daemon outside of it"), "use the process runtime")
	}
	return d, nil
}

// bridgeGateway returns the address of the daemon's default bridge on this machine. It is the zero address if the daemon
// runs in a virtual machine or in its own network namespace (rootless), or is a podman. The subnet must match too,
// because another daemon may have a bridge of the same name.
func bridgeGateway(ctx context.Context, c *testcontainers.DockerClient) (netip.Addr, error) {
	none := netip.Addr{}
	if _, err := c.Ping(ctx, client.PingOptions{}); err != nil { // Info may come from a cache
		return none, err
	}
	info, err := c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return none, err
	}
	host, err := os.Hostname()
	if err != nil || info.Info.Name != host || slices.ContainsFunc(info.Info.SecurityOptions, func(o string) bool { return strings.Contains(o, "rootless") }) {
		return none, nil
	}
	bridge, err := c.NetworkInspect(ctx, bridgeNetwork, client.NetworkInspectOptions{})
	if err != nil {
		return none, nil
	}
	device, err := net.InterfaceByName(bridge.Network.Options["com.docker.network.bridge.name"])
	if err != nil {
		return none, nil
	}
	addrs, err := device.Addrs()
	if err != nil {
		return none, nil
	}
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().Is4() {
			continue
		}
		for _, ipam := range bridge.Network.IPAM.Config {
			if ipam.Subnet.Contains(prefix.Addr()) {
				return prefix.Addr(), nil
			}
		}
	}
	return none, nil
}

const (
	daemonTimeout = 5 * time.Second
	hintStart     = "start Docker or use the process runtime"
)

// configureTestcontainers turns off the reaper of testcontainers, unless the user wants it: its image would have to be pulled,
// and the watchdog and the sweep do its work. It also turns off the log, which would go to standard error.
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

// dialDocker connects to the daemon of DOCKER_HOST. Without DOCKER_HOST it connects to the daemon that testcontainers finds. The
// error is of type *[pin.Error].
func dialDocker(ctx context.Context) (*testcontainers.DockerClient, error) {
	configureTestcontainers()
	within, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	// For testcontainers, a DOCKER_HOST that does not answer is one failure of many, or it tries another daemon.
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

// ping asks whether the daemon of DOCKER_HOST answers.
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

// brief reduces the error of a failed connection to one fact. The error of the client has two sentences of advice, and
// testcontainers joins the failures of all places that it tried, the most likely one first. within is ctx with a time limit.
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
