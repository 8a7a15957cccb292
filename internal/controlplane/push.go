package controlplane

import (
	"context"
	"errors"
	"fmt"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/meshproof/meshproof/internal/messages"
	"github.com/meshproof/meshproof/xds"
)

// Update is what one push changes. What it does not name stays as it is.
type Update struct {
	Listeners []Listener
	// Secrets must be referred to by a listener of this update or of an earlier
	// one: Envoy asks for no other, so that no answer to it would ever come.
	Secrets []Secret
	// Backends and Relays are live before the listeners and routes that lead to them.
	Backends []Backend
	Relays   []Relay
	// Routes must be asked for by a listener of this update or of an earlier one.
	Routes []Routes
	// RemoveListeners, RemoveSecrets, RemoveRoutes and RemoveClusters are names. A secret or
	// routes may go together with the last listener or cluster that refers to them.
	RemoveListeners, RemoveSecrets, RemoveRoutes, RemoveClusters []string
}

// Push makes the update live. It returns nil once Envoy acknowledged every
// changed resource and each changed listener served the new version through the
// data path.
//
// It returns an error that wraps [ErrNACK] and carries Envoy's words where Envoy
// refused a resource; the resources of the update are then taken back, and the
// previous configuration stays live. It returns the context's error where that
// ended first; the update may then have become live or not. Pushes are made one
// at a time.
func (c *ControlPlane) Push(ctx context.Context, u Update) error {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return fmt.Errorf("xds: push: waiting for an earlier push: %w", context.Cause(ctx))
	}
	c.pushes++
	version := fmt.Sprintf("version %d", c.pushes)
	below, above, err := c.changes(u, version)
	if err != nil {
		return err
	}
	if err := c.apply(ctx, below...); err != nil {
		return err
	}
	if err := c.apply(ctx, above...); err != nil {
		if errors.Is(err, xds.ErrNACK) {
			err = errors.Join(err, undo(below))
		}
		return err
	}
	for _, l := range u.Listeners {
		if err := awaitCanary(ctx, l.Dial, version, readCanary); err != nil {
			return fmt.Errorf("xds: push: listener %s: %w", l.Name, err)
		}
	}
	for _, r := range u.Routes {
		if err := awaitCanary(ctx, r.Dial, version, c.readRoutes(r)); err != nil {
			return fmt.Errorf("xds: push: routes %s: %w", r.Config.Name, err)
		}
	}
	gone := newChange(resource.ListenerType, c.listeners, nil)
	gone.remove = u.RemoveListeners
	if err := c.apply(ctx, gone); err != nil {
		return err
	}
	gone = newChange(resource.ClusterType, c.clusters, nil)
	gone.remove = u.RemoveClusters
	if err := c.apply(ctx, gone); err != nil {
		return err
	}
	return errors.Join(c.routes.UpdateResources(nil, u.RemoveRoutes), c.secrets.UpdateResources(nil, u.RemoveSecrets))
}

// changes returns what an update changes: what leads nowhere else, and what leads to that.
// Envoy's worker takes changes over in the order of their coming. So a canary of the second
// part shows that the first is live too.
func (c *ControlPlane) changes(u Update, version string) (below, above []*change, err error) {
	early, late, err := u.secrets()
	if err != nil {
		return nil, nil, err
	}
	clusters, relays, err := u.backends()
	if err != nil {
		return nil, nil, err
	}
	listeners, err := u.listeners(version)
	if err != nil {
		return nil, nil, err
	}
	routes, err := u.routes(version, c.canary)
	if err != nil {
		return nil, nil, err
	}
	below = []*change{newChange(resource.SecretType, c.secrets, early), newChange(resource.ClusterType, c.clusters, clusters), newChange(resource.ListenerType, c.listeners, relays)}
	above = []*change{newChange(resource.SecretType, c.secrets, late), newChange(resource.RouteType, c.routes, routes), newChange(resource.ListenerType, c.listeners, listeners)}
	return below, above, nil
}

// apply hands the changes to the caches and waits for Envoy's answer to each
// resource. At the first refusal it takes everything back.
func (c *ControlPlane) apply(ctx context.Context, changes ...*change) error {
	var versions []resourceVersion
	for _, ch := range changes {
		more, err := ch.versions()
		if err != nil {
			return err
		}
		versions = append(versions, more...)
	}
	answers, cancel := c.acks.await(versions)
	defer cancel()
	for _, ch := range changes {
		if err := ch.cache.UpdateResources(ch.set, ch.remove); err != nil {
			return fmt.Errorf("xds: push: %w", err)
		}
	}
	for range versions {
		select {
		case err := <-answers:
			if err != nil {
				return errors.Join(fmt.Errorf("xds: push: %w", err), undo(changes))
			}
		case <-ctx.Done():
			return fmt.Errorf("xds: push: waiting for Envoy's answer: %w", context.Cause(ctx))
		}
	}
	return nil
}

// change is what becomes different in one cache.
type change struct {
	typeURL  string
	cache    *cache.LinearCache
	replaced map[string]types.Resource
	set      map[string]types.Resource
	remove   []string
}

func newChange(typeURL string, in *cache.LinearCache, set map[string]types.Resource) *change {
	return &change{typeURL: typeURL, cache: in, replaced: in.GetResources(), set: set}
}

// versions returns what Envoy has to answer to, as the cache will number it, and
// drops from the change what would not be one: the cache sends no resource that
// Envoy already has.
func (ch *change) versions() ([]resourceVersion, error) {
	var out []resourceVersion
	for name, r := range ch.set {
		version, err := versionOf(r)
		if err != nil {
			return nil, fmt.Errorf("xds: push: %s %q: %w", shortType(ch.typeURL), name, err)
		}
		if old, ok := ch.replaced[name]; ok {
			if known, err := versionOf(old); err == nil && known == version {
				delete(ch.set, name)
				continue
			}
		}
		out = append(out, resourceVersion{ch.typeURL, name, version})
	}
	for _, name := range ch.remove {
		if _, ok := ch.replaced[name]; ok {
			out = append(out, resourceVersion{ch.typeURL, name, ""})
		}
	}
	return out, nil
}

func versionOf(r types.Resource) (string, error) {
	raw, err := cache.MarshalResource(r)
	return cache.HashResource(raw), err
}

// undo takes a refused update back, so that Envoy is not offered it again on its
// next stream.
func undo(changes []*change) error {
	for _, ch := range changes {
		set := make(map[string]types.Resource)
		var remove []string
		for name := range ch.set {
			if old, ok := ch.replaced[name]; ok {
				set[name] = old
			} else {
				remove = append(remove, name)
			}
		}
		if err := ch.cache.UpdateResources(set, remove); err != nil {
			return fmt.Errorf("xds: take back the refused update: %w", err)
		}
	}
	return nil
}

func (u Update) listeners(version string) (map[string]types.Resource, error) {
	out := make(map[string]types.Resource, len(u.Listeners))
	for _, l := range u.Listeners {
		built, err := l.build(version)
		if err != nil {
			return nil, err
		}
		out[l.Name] = built
	}
	return out, nil
}

// secrets returns the secrets that backends ask for, and the others.
func (u Update) secrets() (early, late map[string]types.Resource, err error) {
	early, late = map[string]types.Resource{}, map[string]types.Resource{}
	asked := secretsOf(u.Backends)
	for _, s := range u.Secrets {
		if err := messages.Validate(s.message); err != nil {
			return nil, nil, fmt.Errorf("xds: secret %s: %w", s.Name, err)
		}
		if asked[s.Name] {
			early[s.Name] = s.message
		} else {
			late[s.Name] = s.message
		}
	}
	return early, late, nil
}

func (u Update) backends() (clusters, relays map[string]types.Resource, err error) {
	clusters, relays = map[string]types.Resource{}, map[string]types.Resource{}
	for _, b := range u.Backends {
		if clusters[b.Config.Name], err = b.cluster(); err != nil {
			return nil, nil, err
		}
	}
	for _, r := range u.Relays {
		if clusters[r.Name], err = r.cluster(); err != nil {
			return nil, nil, fmt.Errorf("xds: relay %s: %w", r.Name, err)
		}
		if relays[r.Name], err = r.listener(); err != nil {
			return nil, nil, fmt.Errorf("xds: relay %s: %w", r.Name, err)
		}
	}
	return clusters, relays, nil
}

func (u Update) routes(version, secret string) (map[string]types.Resource, error) {
	out := make(map[string]types.Resource, len(u.Routes))
	for _, r := range u.Routes {
		built := r.build(version, secret)
		if err := messages.Validate(built); err != nil {
			return nil, fmt.Errorf("xds: routes %s: %w", built.Name, err)
		}
		out[built.Name] = built
	}
	return out, nil
}
