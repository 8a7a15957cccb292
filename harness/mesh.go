package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/harness/evidence"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
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

	control *certs.Credential

	// turn is held by the batch or push under way, and guards what follows.
	turn chan struct{}
	// inbounds ends in that of the positive control.
	inbounds []Inbound
	counters map[counterKey]evidence.FilterCounters
	// adrift is set where a batch failed half way, so that counters are not what
	// Envoy's stood at when the next begins.
	adrift bool
	// unsettled is set where a push was cut off.
	unsettled bool
	closed    bool
}

// The positive control is an inbound of its own, which allows one identity. Its
// address lies in the reserved class E block.
const controlName = "positive control"

var (
	controlAddress = netip.MustParseAddrPort("240.0.0.2:1")
	controlPath    = "/meshproof/positive-control"
)

// NewMesh brings up a mesh and returns once it is proven live. The caller owns it
// and has to close it before the harness. Where all of Envoy's ports are lent to
// meshes, it waits until one of them is closed.
//
// A filter that Envoy refuses is an error that wraps [xds.ErrNACK]. An Envoy that
// says nothing is one after 30 seconds, or when the context ends. Whatever the
// error, nothing of the mesh is left.
func (h *Harness) NewMesh(ctx context.Context, spec MeshSpec) (*Mesh, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	ctx, stop := h.alive(ctx)
	defer stop()
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
		ca:       new(certs.Federation),
		turn:     make(chan struct{}, 1),
		inbounds: slices.Clone(spec.Inbounds),
		counters: map[counterKey]evidence.FilterCounters{},
	}
	if err := m.start(ctx); err != nil {
		m.abandon(ctx)
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
	return m.push(ctx, xds.Update{Listeners: []xds.Listener{m.listener(m.inbounds)}, Secrets: secrets})
}

// abandon takes back what a failed start may have left. A port is given back only
// then: two listeners on one port are a NACK for the mesh that comes next.
func (m *Mesh) abandon(ctx context.Context) {
	if m.unsettled && m.takeBack(ctx) != nil && m.takeBack(ctx) != nil {
		return
	}
	m.harness.slots.release(m.number)
}

// takeBack removes the mesh whatever its context says. Where Envoy was never told
// of the mesh, it is not told of its removal either, and no answer comes. Then
// there is none to wait for the second time. Envoy removes before it adds, so that
// the next mesh gets the port even where the answer is merely late.
func (m *Mesh) takeBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackTimeout)
	defer cancel()
	return m.push(ctx, m.removal())
}

// addControl appends the inbound of the positive control.
func (m *Mesh) addControl() error {
	client := spiffeid.RequireFromPath(m.domains[0], controlPath+"/client")
	filters, err := xds.Compile(policy.Program{Gates: []policy.Gate{{
		Layer: policy.L7,
		Rules: []policy.Rule{{
			Verdict: policy.Verdict{Effect: policy.Allow, Origin: controlName},
			When:    attribute.Identity.Exact(client.String()),
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
// were accepted with. Where Envoy refuses the change, the error wraps
// [xds.ErrNACK] and the mesh stays as it was. Where the context ends first, or
// Envoy says nothing for 30 seconds, nobody knows which filters are live: Send
// then is an error until SetFilters succeeds.
func (m *Mesh) SetFilters(ctx context.Context, filters map[string]xds.Filters) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.end()
	changed := slices.Clone(m.inbounds)
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		i := m.index(name)
		if i < 0 {
			return m.unknown(name)
		}
		changed[i].Filters = filters[name]
	}
	if err := m.push(ctx, xds.Update{Listeners: []xds.Listener{m.listener(changed)}}); err != nil {
		return fmt.Errorf("harness: %s: set filters: %w", m.name, err)
	}
	m.inbounds = changed
	return nil
}

// Close takes the mesh down and gives its port back. It may be called more than
// once; where it failed, it may be tried again.
func (m *Mesh) Close(ctx context.Context) error {
	switch err := m.begin(ctx); {
	case errors.Is(err, errClosedMesh):
		return nil
	case err != nil:
		return err
	}
	defer m.end()
	if err := m.push(ctx, m.removal()); err != nil {
		return fmt.Errorf("harness: %s: close: %w", m.name, err)
	}
	m.closed = true
	m.harness.slots.release(m.number)
	return nil
}

var errClosedMesh = errors.New("the mesh is closed")

// begin waits for the turn of the caller, who has to end it.
func (m *Mesh) begin(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
	default:
		select {
		case m.turn <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("harness: %s: waiting for an earlier batch or push: %w", m.name, context.Cause(ctx))
		}
	}
	if m.closed {
		m.end()
		return fmt.Errorf("harness: %s: %w", m.name, errClosedMesh)
	}
	return nil
}

func (m *Mesh) end() { <-m.turn }

// index finds an inbound of the mesh's owner, thus not the positive control.
func (m *Mesh) index(name string) int {
	return slices.IndexFunc(m.owned(), func(in Inbound) bool { return in.Name == name })
}

func (m *Mesh) owned() []Inbound { return m.inbounds[:len(m.inbounds)-1] }

func (m *Mesh) unknown(name string) error {
	var names []string
	for _, in := range m.owned() {
		names = append(names, in.Name)
	}
	return fmt.Errorf("harness: %s has no inbound %q: it has %q", m.name, name, names)
}
