package harness

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/connection"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/peer"
	"github.com/meshproof/meshproof/internal/rbac"
	"github.com/meshproof/meshproof/internal/routingconfig"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/policy/attribute"
	"github.com/meshproof/meshproof/xds"
)

// Mesh is a set of inbounds behind one port of Envoy. Its methods are safe for concurrent
// use: batches of requests and pushes wait for each other.
type Mesh struct {
	harness *Harness
	name    string
	number  int
	slot    envoy.Slot
	domains []spiffeid.TrustDomain
	ca      *certs.Federation
	bundles *x509bundle.Set
	// trust is the bundles as callers have them.
	trust *connection.Trust

	control *certs.Credential

	// turn is full during a batch or a push. It guards the fields below.
	turn chan struct{}
	// inbounds ends with the inbound of the positive control.
	inbounds []Inbound
	// sidecars ends with the sidecar of the positive control, where there are any.
	sidecars []sidecar
	// counters are Envoy's, by name, as they were read last.
	counters map[string]counterReading
	// reading counts how often they were read.
	reading int
	// countersUnknown is true after a batch that failed: counters may then not be those of
	// Envoy. The next batch reads them first.
	countersUnknown bool
	// filtersUnknown is true after a push that got no answer.
	filtersUnknown bool
	closed         bool
}

// The positive control has an inbound of its own, which allows one identity. The address
// lies in the reserved class E block, so no inbound of a user has it.
const controlName = "positive control"

var (
	controlAddress = netip.MustParseAddrPort("240.0.0.2:1")
	controlPath    = "/meshproof/positive-control"
)

// NewMesh makes a mesh and returns when the mesh is live. The caller of NewMesh must close
// the mesh before the harness. If all ports of Envoy have a mesh, NewMesh waits until a
// mesh is closed.
//
// If Envoy refuses a filter, the error wraps [xds.ErrNACK]. If Envoy does not answer within
// 30 seconds, or before the context ends, that is an error too. After an error nothing of
// the mesh is left.
func (h *Harness) NewMesh(ctx context.Context, spec MeshSpec) (*Mesh, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	ctx, stop := h.untilEnvoyEnds(ctx)
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
		counters: map[string]counterReading{},
	}
	if err := m.start(ctx, spec.Sidecars); err != nil {
		m.giveUp(ctx)
		return nil, fmt.Errorf("harness: %s: %w", name, err)
	}
	return m, nil
}

func (m *Mesh) start(ctx context.Context, sidecars []routingconfig.Sidecar) (err error) {
	if m.bundles, err = m.ca.BundleSet(m.domains...); err != nil {
		return err
	}
	m.trust = &connection.Trust{Source: m.bundles}
	for i, in := range m.inbounds {
		if m.inbounds[i], err = in.withFilters(in.Filters); err != nil {
			return err
		}
	}
	if err := m.addControl(); err != nil {
		return err
	}
	secrets, err := m.secrets()
	if err != nil {
		return err
	}
	if err := m.placeSidecars(sidecars); err != nil {
		return err
	}
	update := controlplane.Update{Listeners: []controlplane.Listener{m.listener(m.inbounds, m.sidecars)}, Secrets: secrets}
	if err := m.addSidecars(&update); err != nil {
		return err
	}
	return m.push(ctx, update)
}

// giveUp removes what a failed start may have left. It gives the port back only if the
// removal succeeds: two listeners on one port would be a NACK for the next mesh.
func (m *Mesh) giveUp(ctx context.Context) {
	if m.filtersUnknown && m.remove(ctx) != nil && m.remove(ctx) != nil {
		return
	}
	m.harness.slots.release(m.number)
}

// remove removes the mesh, also after the end of the context. If Envoy was never told of
// the mesh, it is not told of the removal either, and no answer comes; the second removal
// then has no answer to wait for. Envoy removes before it adds, so the next mesh gets the
// port even if the answer is only late.
func (m *Mesh) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalTimeout)
	defer cancel()
	return m.push(ctx, m.removal())
}

// addControl adds the inbound of the positive control.
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

// Authority returns the CA of a trust domain in this mesh. A trust domain that the mesh does
// not trust has a CA too: the inbounds must refuse its certificates.
func (m *Mesh) Authority(td spiffeid.TrustDomain) (*certs.Authority, error) {
	return m.ca.Authority(td)
}

// SetFilters replaces the filters of inbounds, by name, and returns when the new filters are
// live. An open connection keeps the filters with which it was accepted. If Envoy refuses
// the change, the error wraps [xds.ErrNACK], and the old filters stay. If Envoy does not
// answer within 30 seconds, or before the context ends, the live filters are unknown: Send
// is then an error until SetFilters succeeds.
func (m *Mesh) SetFilters(ctx context.Context, filters map[string]xds.Filters) error {
	if err := m.takeTurn(ctx); err != nil {
		return err
	}
	defer m.endTurn()
	changed, replaced := slices.Clone(m.inbounds), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(filters)) {
		i := m.index(name)
		if i < 0 {
			return m.unknownInbound(name)
		}
		replaced[m.stat(i, changed[i])] = true
		var err error
		if changed[i], err = changed[i].withFilters(filters[name]); err != nil {
			return fmt.Errorf("harness: %s: set filters: %w", m.name, err)
		}
		changed[i].changes++
	}
	if err := m.push(ctx, controlplane.Update{Listeners: []controlplane.Listener{m.listener(changed, m.sidecars)}}); err != nil {
		return fmt.Errorf("harness: %s: set filters: %w", m.name, err)
	}
	m.inbounds = changed
	maps.DeleteFunc(m.counters, func(name string, _ counterReading) bool {
		c, _ := controlplane.ParseCounter(name)
		return replaced[c.Stat]
	})
	return nil
}

// Close removes the mesh and gives its port back. It may be called more than once. After an
// error it may be called again.
func (m *Mesh) Close(ctx context.Context) error {
	switch err := m.takeTurn(ctx); {
	case errors.Is(err, errClosedMesh):
		return nil
	case err != nil:
		return err
	}
	defer m.endTurn()
	if err := m.push(ctx, m.removal()); err != nil {
		return fmt.Errorf("harness: %s: close: %w", m.name, err)
	}
	m.closed = true
	m.harness.slots.release(m.number)
	return nil
}

var errClosedMesh = errors.New("the mesh is closed")

// takeTurn waits for earlier batches and pushes. Its caller must call endTurn.
func (m *Mesh) takeTurn(ctx context.Context) error {
	// A free turn comes before the end of the context: a select would choose one of the two at random.
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
		m.endTurn()
		return fmt.Errorf("harness: %s: %w", m.name, errClosedMesh)
	}
	return nil
}

func (m *Mesh) endTurn() { <-m.turn }

// index finds an inbound of the user. It never finds the inbound of the positive control.
func (m *Mesh) index(name string) int {
	return slices.IndexFunc(m.userInbounds(), func(in Inbound) bool { return in.Name == name })
}

func (m *Mesh) userInbounds() []Inbound { return m.inbounds[:len(m.inbounds)-1] }

func (m *Mesh) unknownInbound(name string) error {
	var names []string
	for _, in := range m.userInbounds() {
		names = append(names, in.Name)
	}
	return fmt.Errorf("harness: %s has no inbound %q: it has %q", m.name, name, names)
}

// MeshSpec describes a mesh as data.
type MeshSpec struct {
	// TrustDomains are the trust domains whose SVIDs the inbounds accept. There must be
	// one; the first is the trust domain of the mesh.
	TrustDomains []spiffeid.TrustDomain
	Inbounds     []Inbound
	// Sidecars are the outbound sides of workloads that send requests: see [Mesh.SendRouted].
	Sidecars []routingconfig.Sidecar
}

// Inbound is one port of one workload.
type Inbound struct {
	// Name identifies the inbound within its mesh, say "backend/http-port".
	Name string
	// Identity is the SPIFFE ID in the certificate of the inbound.
	Identity spiffeid.ID
	// Address is the destination that callers play. It is unique within the mesh.
	Address  netip.AddrPort
	Protocol policy.Protocol
	MTLS     xds.MTLS
	// JudgesPlaintext is true where the filters judge callers in plaintext too, as callers
	// without a name. Elsewhere such a caller passes unjudged, if MTLS lets it in.
	JudgesPlaintext bool
	// Filters authorize. With the zero value every caller with a sound SVID passes.
	Filters       xds.Filters
	Normalization policy.PathNormalization
	// TrustedHops is the number of entries of x-forwarded-for that the inbound trusts, the last
	// ones: the first of them is the remote address. 0 trusts no header.
	TrustedHops int
	// Headers are the names of the headers, in lower case, that the access log shows. Each is
	// compared with what the caller sent. The name "host" stands for the authority.
	Headers []string
	// Tokens is what the inbound demands of tokens (JWT). The zero value reads none.
	Tokens token.Demand
	// changes counts the changes of the filters.
	changes int
	// asksForSNI is true where a filter asks for the server name of a handshake.
	asksForSNI bool
}

// withFilters returns the inbound with filters, which ask for the address that a caller plays.
func (i Inbound) withFilters(filters xds.Filters) (Inbound, error) {
	var err error
	if i.Filters, _, err = peer.Play(filters, i.TrustedHops > 0); err != nil {
		return i, fmt.Errorf("inbound %s: %w", i.Name, err)
	}
	i.asksForSNI = len(filters.NetworkAsks) > 0 || rbac.AskForSNI(filters.Messages())
	return i, nil
}

// readsSNI reports whether Envoy learns the server name of each handshake: one inbound that
// needs the TLS inspector gives it to the listener of all.
func (m *Mesh) readsSNI() bool {
	return slices.ContainsFunc(m.inbounds, func(in Inbound) bool { return in.asksForSNI || in.MTLS.TakesPlaintext() })
}

// Request is one request of one caller.
type Request struct {
	// To is the name of an inbound.
	To string
	// Credential is the certificate that the caller shows; nil for a TLS caller without one.
	Credential *certs.Credential
	// Plaintext turns TLS off.
	Plaintext bool
	// SNI is the server name of the handshake, as [caller.Call] has it.
	SNI string
	// SourceIP is the address that the caller plays. The zero value stands for an address
	// that no workload has.
	SourceIP netip.Addr
	// The rest is the request as [caller.Call] describes it.
	Method, Path, Authority string
	Headers                 []policy.Header
	GRPC                    string
	Body                    string
}

func (s MeshSpec) check() error {
	if len(s.TrustDomains) == 0 {
		return errors.New("harness: mesh: it trusts no trust domain: name at least its own")
	}
	names, addresses := map[string]bool{}, map[netip.AddrPort]string{}
	for _, in := range s.Inbounds {
		switch other, taken := addresses[in.Address]; {
		case names[in.Name]:
			return fmt.Errorf("harness: mesh: two inbounds are named %q", in.Name)
		case taken:
			return fmt.Errorf("harness: mesh: inbounds %q and %q share the address %s", other, in.Name, in.Address)
		case in.Address == controlAddress || in.Name == controlName:
			return fmt.Errorf("harness: mesh: inbound %q takes the place of the positive control", in.Name)
		}
		names[in.Name], addresses[in.Address] = true, in.Name
	}
	return s.checkSidecars()
}
