package harness

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/envoy"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// Mesh is a set of inbounds behind one port of Envoy. Its methods are safe for
// concurrent use; batches of requests and pushes take turns.
type Mesh struct {
	harness *Harness
	name    string
	number  int
	slot    envoy.Slot
	domains []spiffeid.TrustDomain
	ca      *certs.Federation
	bundles *certs.BundleSet

	turn     sync.Mutex
	inbounds []Inbound
	counters map[string]evidence.Counters
	control  *certs.Credential
	closed   bool
}

// The positive control is an inbound of its own, which allows one identity. Its
// address lies in the reserved class E block.
const controlName = "positive control"

var (
	controlAddress = netip.MustParseAddrPort("240.0.0.2:1")
	controlPath    = "/meshproof/positive-control"
)

// NewMesh brings up a mesh and returns once it is proven live. The caller owns it
// and has to close it before the harness. A filter that Envoy refuses is an error
// that wraps [xds.ErrNACK].
func (h *Harness) NewMesh(ctx context.Context, spec MeshSpec) (*Mesh, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	number, err := h.slots.take(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.meshes++
	name := fmt.Sprintf("mesh%d", h.meshes)
	h.mu.Unlock()
	m := &Mesh{
		harness:  h,
		name:     name,
		number:   number,
		slot:     h.envoy.Slot(number),
		domains:  spec.TrustDomains,
		ca:       certs.NewFederation(),
		inbounds: slices.Clone(spec.Inbounds),
		counters: map[string]evidence.Counters{},
	}
	if err := m.start(ctx); err != nil {
		h.slots.release(number)
		return nil, fmt.Errorf("harness: %s: %w", name, err)
	}
	return m, nil
}

func (m *Mesh) start(ctx context.Context) (err error) {
	if m.bundles, err = m.ca.BundleSet(m.domains...); err != nil {
		return err
	}
	if err := m.addControl(); err != nil {
		return err
	}
	secrets, err := m.secrets()
	if err != nil {
		return err
	}
	return m.push(ctx, xds.Update{Listeners: []xds.Listener{m.listener()}, Secrets: secrets})
}

// addControl appends the inbound of the positive control.
func (m *Mesh) addControl() error {
	client := spiffeid.RequireFromPath(m.domains[0], controlPath+"/client")
	filters, err := xds.Compile(policy.Program{Gates: []policy.Gate{{
		Layer: policy.L7,
		Rules: []policy.Rule{{
			Verdict: policy.Verdict{Effect: policy.Allow, Origin: controlName},
			When:    policy.Identity{Value: client.String()},
		}},
	}}})
	if err != nil {
		return err
	}
	m.inbounds = append(m.inbounds, Inbound{
		Name:     controlName,
		Identity: spiffeid.RequireFromPath(m.domains[0], controlPath+"/server"),
		Address:  controlAddress,
		Filters:  filters,
	})
	m.control, err = m.ca.Mint(client)
	return err
}

// Authority returns the CA of a trust domain as this mesh knows it. A trust
// domain that the mesh does not trust gets a CA too: one that signs what the
// inbounds must refuse.
func (m *Mesh) Authority(td spiffeid.TrustDomain) (*certs.Authority, error) {
	return m.ca.Authority(td)
}

// SetFilters replaces the filters of the named inbounds and returns once the
// change is proven live. Connections that are already open keep the filters they
// were accepted with. Where Envoy refuses the change the mesh stays as it was.
func (m *Mesh) SetFilters(ctx context.Context, filters map[string]xds.Filters) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	before := m.inbounds
	m.inbounds = slices.Clone(before)
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		i := m.index(name)
		if i < 0 {
			m.inbounds = before
			return m.unknown(name)
		}
		m.inbounds[i].Filters = filters[name]
	}
	if err := m.push(ctx, xds.Update{Listeners: []xds.Listener{m.listener()}}); err != nil {
		m.inbounds = before
		return fmt.Errorf("harness: %s: %w", m.name, err)
	}
	return nil
}

// Close takes the mesh down and gives its port back.
func (m *Mesh) Close(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.closed {
		return nil
	}
	update := xds.Update{RemoveListeners: []string{m.name}, RemoveSecrets: []string{m.validationName()}}
	for i := range m.inbounds {
		update.RemoveSecrets = append(update.RemoveSecrets, m.identityName(i))
	}
	if err := m.push(ctx, update); err != nil {
		return fmt.Errorf("harness: %s: close: %w", m.name, err)
	}
	m.closed = true
	m.harness.slots.release(m.number)
	return nil
}

func (m *Mesh) push(ctx context.Context, u xds.Update) error {
	ctx, stop := m.harness.alive(ctx)
	defer stop()
	return m.harness.control.Push(ctx, u)
}

func (m *Mesh) secrets() ([]xds.Secret, error) {
	validation, err := xds.ValidationSecret(m.validationName(), m.bundles)
	if err != nil {
		return nil, err
	}
	secrets := []xds.Secret{validation}
	for i, in := range m.inbounds {
		svid, err := m.ca.Mint(in.Identity)
		if err != nil {
			return nil, fmt.Errorf("inbound %q: %w", in.Name, err)
		}
		secrets = append(secrets, xds.IdentitySecret(m.identityName(i), svid))
	}
	return secrets, nil
}

func (m *Mesh) listener() xds.Listener {
	l := xds.Listener{
		Name:       m.name,
		Bind:       m.slot.Listen,
		Dial:       m.slot.Dial,
		Validation: m.validationName(),
	}
	for i, in := range m.inbounds {
		l.Inbounds = append(l.Inbounds, xds.Inbound{
			Stat:          m.stat(i),
			Destination:   in.Address,
			Protocol:      in.Protocol,
			MTLS:          in.MTLS,
			Identity:      m.identityName(i),
			Filters:       in.Filters,
			Normalization: in.Normalization,
		})
	}
	return l
}

func (m *Mesh) index(name string) int {
	return slices.IndexFunc(m.inbounds, func(in Inbound) bool { return in.Name == name })
}

func (m *Mesh) unknown(name string) error {
	var names []string
	for _, in := range m.inbounds {
		if in.Name != controlName {
			names = append(names, in.Name)
		}
	}
	return fmt.Errorf("harness: %s has no inbound %q: it has %q", m.name, name, names)
}

func (m *Mesh) stat(i int) string         { return fmt.Sprintf("%s_inbound%d", m.name, i) }
func (m *Mesh) identityName(i int) string { return fmt.Sprintf("%s/identity/%d", m.name, i) }
func (m *Mesh) validationName() string    { return m.name + "/trust" }
