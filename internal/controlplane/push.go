package controlplane

import (
	"context"
	"errors"
	"fmt"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/meshproof/meshproof/internal/messages"
)

// Update is what one push changes. What it does not name stays as it is.
type Update struct {
	Listeners []Listener
	// Secrets must be referred to by a listener of this update or of an earlier
	// one: Envoy asks for no other, so that no answer to it would ever come.
	Secrets []Secret
	// RemoveListeners and RemoveSecrets are names. A secret may go together with
	// the last listener that refers to it.
	RemoveListeners, RemoveSecrets []string
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
	secrets, err := u.secrets()
	if err != nil {
		return err
	}
	listeners, err := u.listeners(version)
	if err != nil {
		return err
	}
	if err := c.apply(ctx, newChange(resource.SecretType, c.secrets, secrets), newChange(resource.ListenerType, c.listeners, listeners)); err != nil {
		return err
	}
	for _, l := range u.Listeners {
		if err := awaitCanary(ctx, l.Dial, version); err != nil {
			return fmt.Errorf("xds: push: listener %s: %w", l.Name, err)
		}
	}
	gone := newChange(resource.ListenerType, c.listeners, nil)
	gone.remove = u.RemoveListeners
	if err := c.apply(ctx, gone); err != nil {
		return err
	}
	return c.secrets.UpdateResources(nil, u.RemoveSecrets)
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
	typeURL string
	cache   *cache.LinearCache
	before  map[string]types.Resource
	set     map[string]types.Resource
	remove  []string
}

func newChange(typeURL string, in *cache.LinearCache, set map[string]types.Resource) *change {
	return &change{typeURL: typeURL, cache: in, before: in.GetResources(), set: set}
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
		if old, ok := ch.before[name]; ok {
			if known, err := versionOf(old); err == nil && known == version {
				delete(ch.set, name)
				continue
			}
		}
		out = append(out, resourceVersion{ch.typeURL, name, version})
	}
	for _, name := range ch.remove {
		if _, ok := ch.before[name]; ok {
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
			if old, ok := ch.before[name]; ok {
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

func (u Update) secrets() (map[string]types.Resource, error) {
	out := make(map[string]types.Resource, len(u.Secrets))
	for _, s := range u.Secrets {
		if err := messages.Validate(s.message); err != nil {
			return nil, fmt.Errorf("xds: secret %s: %w", s.Name, err)
		}
		out[s.Name] = s.message
	}
	return out, nil
}
