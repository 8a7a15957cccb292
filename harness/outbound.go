package harness

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// sidecar is the outbound side of a workload as it stands in a mesh.
type sidecar struct {
	routingconfig.Sidecar
	number int
	// prefix stands in front of the names of its resources. It ends in a slash, and has no other.
	prefix   string
	config   routingconfig.Config
	backends []controlplane.Backend
}

// The positive control of outbounds is a sidecar of its own, which leads to the inbound of the
// positive control.
var (
	controlCaller  = netip.MustParseAddr("240.0.0.4")
	controlProgram = routing.Proxy{
		Outbounds: []routing.Outbound{{Name: controlName, Port: controlAddress.Port(), Routes: []routing.Route{{Name: controlName, Backends: []routing.Backend{{Cluster: controlName, Weight: 1}}}}}},
		Clusters:  []routing.Cluster{{Name: controlName}},
	}
)

// placeSidecars gives each sidecar its place in the mesh.
func (m *Mesh) placeSidecars(sidecars []routingconfig.Sidecar) (err error) {
	if len(sidecars) == 0 {
		return nil
	}
	control := routingconfig.Sidecar{
		Name: controlName, Identity: spiffeid.RequireFromPath(m.domains[0], controlPath+"/client"), Address: controlCaller, Program: controlProgram,
		Endpoints: map[string][]routingconfig.Endpoint{controlName: {{Inbound: controlName}}},
	}
	m.sidecars = make([]sidecar, len(sidecars)+1)
	for i, s := range append(slices.Clone(sidecars), control) {
		if m.sidecars[i], err = m.place(i, s, sidecar{}); err != nil {
			return err
		}
	}
	return nil
}

// place gives a sidecar its number. It takes from an earlier one what both share.
func (m *Mesh) place(number int, s routingconfig.Sidecar, earlier sidecar) (sidecar, error) {
	if !maps.Equal(earlier.Sentinels, s.Sentinels) {
		earlier = sidecar{}
	}
	out := sidecar{Sidecar: s, number: number, prefix: fmt.Sprintf("%s_out%d/", m.name, number)}
	var err error
	if out.config, err = earlier.config.Replace(earlier.Program, s.Program, out.prefix, s.Sentinels); err != nil {
		return out, fmt.Errorf("sidecar %s: %w", s.Name, err)
	}
	for i, c := range s.Program.Clusters {
		b := controlplane.Backend{
			Config: out.config.Clusters[i], Protocol: c.Protocol, Relay: m.relayName(),
			Identity: m.callerName(number), Validation: m.validationName(),
		}
		if err := m.addEndpoints(&b, s.Endpoints[c.Name]); err != nil {
			return out, fmt.Errorf("sidecar %s: cluster %s: %w", s.Name, c.Name, err)
		}
		out.backends = append(out.backends, b)
	}
	return out, nil
}

// addEndpoints leads a cluster to its inbounds, or to a port on which no connection comes about.
func (m *Mesh) addEndpoints(b *controlplane.Backend, endpoints []routingconfig.Endpoint) error {
	plaintext := 0
	for _, e := range endpoints {
		if e.Reach != script.Accepts {
			port, err := m.harness.upstream.Port(e.Reach)
			if err != nil {
				return err
			}
			b.Ports = append(b.Ports, net.JoinHostPort(m.harness.plan.Surroundings().HostName, strconv.Itoa(port)))
			continue
		}
		i := slices.IndexFunc(m.inbounds, func(in Inbound) bool { return in.Name == e.Inbound })
		if i < 0 {
			return m.unknownInbound(e.Inbound)
		}
		in := m.inbounds[i]
		if in.MTLS == xds.Disable {
			plaintext++
		}
		b.Accept = append(b.Accept, in.Identity.String())
		b.Inbounds = append(b.Inbounds, controlplane.Endpoint{Name: in.Name, Destination: in.Address})
	}
	switch {
	case len(b.Ports) > 0 && len(b.Inbounds) > 0:
		return errors.New("it leads to an inbound and to a port without one: a cluster of the lab leads to one kind")
	case plaintext > 0 && plaintext < len(b.Inbounds):
		return errors.New("it leads to inbounds with TLS and to inbounds without: a cluster of the lab leads to one kind")
	case plaintext > 0:
		b.Identity = ""
	}
	return nil
}

func (m *Mesh) relayName() string            { return m.name + "_relay" }
func (m *Mesh) callerName(number int) string { return fmt.Sprintf("%s/caller/%d", m.name, number) }

// destination is the address of an outbound, which no inbound has. The source tells sidecars
// apart.
func destination(i int, o routing.Outbound) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{240, 1, byte(i >> 8), byte(i)}), o.Port)
}

// outbounds are the filter chains of all sidecars.
func (m *Mesh) outbounds(sidecars []sidecar) (out []controlplane.Outbound) {
	for _, s := range sidecars {
		for i, o := range s.config.Outbounds {
			out = append(out, controlplane.Outbound{Config: o, Destination: destination(i, s.Program.Outbounds[i]), Caller: s.Address})
		}
	}
	return out
}

// routes are the route configurations of the sidecars.
func (m *Mesh) routes(sidecars ...sidecar) (out []controlplane.Routes) {
	for _, s := range sidecars {
		for i, o := range s.config.Outbounds {
			if o.Routes != nil {
				out = append(out, controlplane.Routes{Config: o.Routes, Dial: m.slot.Dial, Caller: s.Address, Destination: destination(i, s.Program.Outbounds[i])})
			}
		}
	}
	return out
}

// addSidecars adds what stands below the listener to the first update of a mesh.
func (m *Mesh) addSidecars(u *controlplane.Update) error {
	if len(m.sidecars) == 0 {
		return nil
	}
	u.Relays = []controlplane.Relay{{Name: m.relayName(), Target: m.slot.Listen}}
	u.Routes = m.routes(m.sidecars...)
	for _, s := range m.sidecars {
		u.Backends = append(u.Backends, s.backends...)
		if !s.showsIdentity() {
			continue
		}
		secrets, err := m.callerSecret(s)
		if err != nil {
			return err
		}
		u.Secrets = append(u.Secrets, secrets...)
	}
	return nil
}

func (m *Mesh) callerSecret(s sidecar) ([]controlplane.Secret, error) {
	svid, err := m.ca.Mint(s.Identity)
	if err != nil {
		return nil, fmt.Errorf("sidecar %q: %w", s.Name, err)
	}
	return []controlplane.Secret{controlplane.IdentitySecret(m.callerName(s.number), svid)}, nil
}

// userSidecars are the sidecars without the sidecar of the positive control.
func (m *Mesh) userSidecars() []sidecar { return m.sidecars[:max(0, len(m.sidecars)-1)] }

func (m *Mesh) unknownSidecar(name string) error {
	var names []string
	for _, s := range m.userSidecars() {
		names = append(names, s.Name)
	}
	return fmt.Errorf("harness: %s has no sidecar %q: it has %q", m.name, name, names)
}

// showsIdentity reports whether a backend asks for the SVID of the sidecar. Envoy asks for no
// other secret.
func (s sidecar) showsIdentity() bool {
	return slices.ContainsFunc(s.backends, func(b controlplane.Backend) bool { return b.Identity != "" })
}

// removeSidecars adds the names of what addSidecars added.
func (m *Mesh) removeSidecars(u *controlplane.Update) {
	if len(m.sidecars) == 0 {
		return
	}
	u.RemoveListeners, u.RemoveClusters = append(u.RemoveListeners, m.relayName()), []string{m.relayName()}
	for _, s := range m.sidecars {
		u.RemoveSecrets = append(u.RemoveSecrets, m.callerName(s.number))
		for _, r := range m.routes(s) {
			u.RemoveRoutes = append(u.RemoveRoutes, r.Config.Name)
		}
		for _, b := range s.backends {
			u.RemoveClusters = append(u.RemoveClusters, b.Config.Name)
		}
	}
}

// checkSidecars reports sidecars that no request could tell apart.
func (s MeshSpec) checkSidecars() error {
	names, addresses := map[string]bool{controlName: true}, map[netip.Addr]string{controlCaller: controlName}
	for _, c := range s.Sidecars {
		switch other, taken := addresses[c.Address]; {
		case names[c.Name]:
			return fmt.Errorf("harness: mesh: two sidecars are named %q", c.Name)
		case !c.Address.Is4():
			return fmt.Errorf("harness: mesh: the address %s of sidecar %q is none of IPv4", c.Address, c.Name)
		case taken:
			return fmt.Errorf("harness: mesh: sidecars %q and %q share the address %s", other, c.Name, c.Address)
		}
		names[c.Name], addresses[c.Address] = true, c.Name
		for _, cluster := range c.Program.Clusters {
			if cluster.Protocol.Layer() == policy.L7 && cluster.Name == routingconfig.Nothing {
				return fmt.Errorf("harness: mesh: sidecar %q: no cluster can be named %q", c.Name, cluster.Name)
			}
		}
	}
	return nil
}
