package envoy

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
)

const (
	adminPort         = 9901
	firstListenerPort = 10000
)

// dockerPorts are the ports of a container. The admin port is published. Where the container's network ends on this
// machine, listeners are dialed directly: to publish a port takes Docker about 15 ms at the start and 50 ms at the end.
type dockerPorts struct {
	n       int
	publish bool
	ip      netip.Addr                // of the container, unless all ports are published
	mapped  map[uint16]netip.AddrPort // published ports, by port inside
}

func containerPorts(o Options, d daemon) *dockerPorts {
	n := o.Ports
	if n == 0 {
		n = defaultContainerPorts
	}
	return &dockerPorts{n: n, publish: !d.gateway.IsValid(), mapped: map[uint16]netip.AddrPort{}}
}

// published lists the ports inside that are published.
func (d *dockerPorts) published() []network.Port {
	list := []network.Port{network.MustParsePort(strconv.Itoa(adminPort) + "/tcp")}
	if d.publish {
		for i := range d.n {
			list = append(list, network.MustParsePort(strconv.Itoa(firstListenerPort+i)+"/tcp"))
		}
	}
	return list
}

func (d *dockerPorts) exposed() []string {
	var list []string
	for _, p := range d.published() {
		list = append(list, p.String())
	}
	return list
}

// bindings publishes on the loopback address only, each on a port that Docker picks.
func (d *dockerPorts) bindings() network.PortMap {
	m := network.PortMap{}
	for _, p := range d.published() {
		m[p] = []network.PortBinding{{HostIP: loopback, HostPort: "0"}}
	}
	return m
}

// settle takes over what the container was given at its start.
func (d *dockerPorts) settle(s *container.NetworkSettings) error {
	if s == nil {
		return errors.New("the container has no network")
	}
	if !d.publish {
		if own := s.Networks[bridgeNetwork]; own != nil {
			d.ip = own.IPAddress
		}
		if !d.ip.IsValid() {
			return errors.New("the container has no address on the default bridge")
		}
	}
	for _, p := range d.published() {
		bound := s.Ports[p]
		if len(bound) == 0 {
			return fmt.Errorf("port %s is not published", p)
		}
		port, err := strconv.ParseUint(bound[0].HostPort, 10, 16)
		if err != nil {
			return fmt.Errorf("port %s is published as %q: %w", p, bound[0].HostPort, err)
		}
		d.mapped[p.Num()] = netip.AddrPortFrom(loopback, uint16(port))
	}
	return nil
}

func (d *dockerPorts) dial(port uint16) string {
	if at, ok := d.mapped[port]; ok {
		return at.String()
	}
	return netip.AddrPortFrom(d.ip, port).String()
}

func (d *dockerPorts) len() int { return d.n }

func (d *dockerPorts) slot(i int) Slot {
	if i >= d.n {
		return Slot{}
	}
	port := uint16(firstListenerPort + i)
	return Slot{Listen: netip.AddrPortFrom(anyAddr, port), Dial: d.dial(port)}
}
