package controlplane

import (
	"context"
	"fmt"
	"net/netip"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/behavior/probe"
)

const probeName = "meshproof_probe"

// probeDestination has another port than the canary: Envoy looks for the port first, and
// takes no chain without a port where another chain has the port.
var probeDestination = netip.MustParseAddrPort("240.0.0.1:2")

// Probe asks Envoy how it behaves, over a listener of its own, which stays. Dial is where this
// process reaches the port of the address bind. It may be called before Envoy is connected.
func (c *ControlPlane) Probe(ctx context.Context, bind netip.AddrPort, dial string) (behavior.Set, error) {
	l := Listener{Name: probeName, Bind: bind, Dial: dial, other: []*listenerv3.FilterChain{probe.Chain()}}
	if err := c.Push(ctx, Update{Listeners: []Listener{l}}); err != nil {
		return behavior.Set{}, fmt.Errorf("xds: probe: %w", err)
	}
	behaves, err := askProbe(ctx, dial)
	c.authorizer.joins.Store(!behaves.Fixed(behavior.HeaderLines))
	return behaves, err
}

func askProbe(ctx context.Context, dial string) (behavior.Set, error) {
	conn, closeNow, err := connect(ctx, dial, canarySource, probeDestination)
	if err != nil {
		return behavior.Set{}, fmt.Errorf("xds: probe: %w", err)
	}
	defer closeNow()
	return probe.Ask(conn)
}
