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

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

const bridgeNetwork = "bridge" // Docker's default network

// daemon is what has to be known about the Docker daemon.
type daemon struct {
	host string // as for DOCKER_HOST: a UNIX socket
	// gateway is this machine's address on the daemon's default bridge. It is invalid where the bridge ends elsewhere,
	// in the virtual machine of Docker Desktop for instance; then ports have to be published.
	gateway netip.Addr
}

// findDaemon finds a Docker daemon of this machine that answers.
func findDaemon(ctx context.Context) (daemon, error) {
	fail := func(cause error, hint string) (daemon, error) {
		return daemon{}, noDocker(cause, hint)
	}
	c, err := dialDocker(ctx)
	if err != nil {
		return daemon{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	d := daemon{host: c.DaemonHost()}
	if !strings.HasPrefix(d.host, "unix://") {
		return fail(fmt.Errorf("the daemon at %s is not on this machine, and Envoy could not connect back", d.host), "use the process runtime")
	}
	if d.gateway, err = bridgeGateway(ctx, c); err != nil {
		return fail(err, hintStart)
	}
	if _, err := os.Stat("/.dockerenv"); err == nil && !d.gateway.IsValid() {
		return fail(errors.New("this process runs in a container and the daemon outside of it"), "use the process runtime")
	}
	return d, nil
}

// bridgeGateway returns the address that the daemon's default bridge has on this machine, or the zero address if it has
// none: because the daemon lives in a virtual machine or a network namespace of its own (rootless), or is a podman. A
// bridge of the same name, of another daemon, is not mistaken for it.
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

// isGone tells that a container does not exist (any more).
func isGone(err error) bool { return errdefs.IsNotFound(err) }
