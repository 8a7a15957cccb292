package harness

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/routingconfig"
)

// SetSidecar replaces the program of a sidecar, by its name, with its endpoints and sentinels,
// and returns when the new one is live. Requests under way keep the old one. Only what changes
// is sent to Envoy: a change of routes is live within milliseconds. The errors are those of
// [Mesh.SetFilters].
func (m *Mesh) SetSidecar(ctx context.Context, s routingconfig.Sidecar) error {
	if err := m.takeTurn(ctx); err != nil {
		return err
	}
	defer m.endTurn()
	i := slices.IndexFunc(m.userSidecars(), func(of sidecar) bool { return of.Name == s.Name })
	if i < 0 {
		return m.unknownSidecar(s.Name)
	}
	old := m.sidecars[i]
	if old.Address != s.Address || old.Identity != s.Identity {
		return fmt.Errorf("harness: %s: set sidecar %s: its address and its identity stay: make a new mesh for others", m.name, s.Name)
	}
	changed, err := m.place(i, s, old)
	if err != nil {
		return fmt.Errorf("harness: %s: set sidecar: %w", m.name, err)
	}
	sidecars := slices.Clone(m.sidecars)
	sidecars[i] = changed
	update, err := m.replacement(old, changed, sidecars)
	if err == nil {
		err = m.push(ctx, update)
	}
	if err != nil {
		return fmt.Errorf("harness: %s: set sidecar: %w", m.name, err)
	}
	m.sidecars = sidecars
	return nil
}

// replacement is the update between two programs of a sidecar.
func (m *Mesh) replacement(old, changed sidecar, sidecars []sidecar) (u controlplane.Update, err error) {
	before, after := byName(m.routes(old)), m.routes(changed)
	for _, r := range after {
		if b, ok := before[r.Config.Name]; !ok || b.Destination != r.Destination || !proto.Equal(b.Config, r.Config) {
			u.Routes = append(u.Routes, r)
		}
		delete(before, r.Config.Name)
	}
	u.RemoveRoutes = slices.Sorted(maps.Keys(before))
	backends := map[string]controlplane.Backend{}
	for _, b := range old.backends {
		backends[b.Config.Name] = b
	}
	for _, b := range changed.backends {
		if !sameBackend(backends[b.Config.Name], b) {
			u.Backends = append(u.Backends, b)
		}
		delete(backends, b.Config.Name)
	}
	u.RemoveClusters = slices.Sorted(maps.Keys(backends))
	if len(u.Routes) == 0 {
		// Its canary shows that what is below is live.
		u.Routes = m.routes(m.sidecars[len(m.sidecars)-1])
	}
	if !slices.EqualFunc(m.outbounds([]sidecar{old}), m.outbounds([]sidecar{changed}), sameChain) {
		u.Listeners = []controlplane.Listener{m.listener(m.inbounds, sidecars)}
	}
	if changed.showsIdentity() && !old.showsIdentity() {
		u.Secrets, err = m.callerSecret(changed)
	}
	return u, err
}

func byName(routes []controlplane.Routes) map[string]controlplane.Routes {
	out := make(map[string]controlplane.Routes, len(routes))
	for _, r := range routes {
		out[r.Config.Name] = r
	}
	return out
}

func sameBackend(a, b controlplane.Backend) bool {
	if a.Config == nil || !proto.Equal(a.Config, b.Config) {
		return false
	}
	a.Config = b.Config
	return reflect.DeepEqual(a, b)
}

// sameChain compares what stands in a listener: the routes do not.
func sameChain(a, b controlplane.Outbound) bool {
	return a.Destination == b.Destination && proto.Equal(a.Config.HTTP, b.Config.HTTP) && proto.Equal(a.Config.TCP, b.Config.TCP)
}
