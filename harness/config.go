package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/xds"
)

const (
	// pushTimeout bounds the wait until Envoy answers a push and serves it. Envoy needs
	// milliseconds, and a second on a machine under heavy load.
	pushTimeout = 30 * time.Second
	// removalTimeout bounds the removal after a push that failed.
	removalTimeout = time.Second
)

// silentPush is the error of a push that got no answer within a time. It is
// [context.DeadlineExceeded] for errors.Is, as any silence of Envoy is.
type silentPush time.Duration

func (s silentPush) Error() string {
	return fmt.Sprintf("neither refused nor served within %s: look at Envoy's log, which WithLog gets, and at the load of the machine", time.Duration(s))
}

func (silentPush) Is(target error) bool { return target == context.DeadlineExceeded }

// push makes an update live. It records if the live filters are unknown after it.
func (m *Mesh) push(ctx context.Context, u controlplane.Update) error {
	whole, stop := m.harness.untilEnvoyEnds(ctx)
	defer stop()
	patience := m.harness.options.pushTimeout
	ctx, cancel := context.WithTimeoutCause(whole, patience, silentPush(patience))
	defer cancel()
	err := m.harness.control.Push(ctx, u)
	switch {
	case err == nil:
		m.filtersUnknown = false
		m.harness.heard()
	case errors.Is(err, xds.ErrNACK):
		m.harness.heard()
	case ctx.Err() != nil:
		m.filtersUnknown = true
		if whole.Err() == nil {
			return cmp.Or(m.harness.noteSilence(whole), err)
		}
	}
	return err
}

// removal is the update that removes the mesh.
func (m *Mesh) removal() controlplane.Update {
	u := controlplane.Update{RemoveListeners: []string{m.name}, RemoveSecrets: []string{m.validationName()}}
	for i := range m.inbounds {
		if m.showsIdentity(i) {
			u.RemoveSecrets = append(u.RemoveSecrets, m.identityName(i))
		}
	}
	m.removeSidecars(&u)
	return u
}

func (m *Mesh) secrets() ([]controlplane.Secret, error) {
	validation, err := controlplane.ValidationSecret(m.validationName(), m.bundles)
	if err != nil {
		return nil, err
	}
	secrets := []controlplane.Secret{validation}
	for i, in := range m.inbounds {
		if !m.showsIdentity(i) {
			continue
		}
		svid, err := m.ca.Mint(in.Identity)
		if err != nil {
			return nil, fmt.Errorf("inbound %q: %w", in.Name, err)
		}
		secrets = append(secrets, controlplane.IdentitySecret(m.identityName(i), svid))
	}
	return secrets, nil
}

func (m *Mesh) listener(inbounds []Inbound, sidecars []sidecar) controlplane.Listener {
	l := controlplane.Listener{
		Name:       m.name,
		Bind:       m.slot.Listen,
		Dial:       m.slot.Dial,
		Validation: m.validationName(),
		Outbounds:  m.outbounds(sidecars),
	}
	for i, in := range inbounds {
		l.Inbounds = append(l.Inbounds, controlplane.Inbound{
			Stat:            m.stat(i, in),
			Destination:     in.Address,
			Protocol:        in.Protocol,
			MTLS:            in.MTLS,
			JudgesPlaintext: in.JudgesPlaintext,
			Identity:        m.identityName(i),
			Filters:         in.Filters,
			AsksForSNI:      in.asksForSNI,
			Normalization:   in.Normalization,
			Tokens:          in.Tokens,
			TrustedHops:     in.TrustedHops,
			Headers:         in.Headers,
			BehindOutbounds: len(sidecars) > 0,
		})
	}
	return l
}

// stat is the stat prefix of an inbound. Other filters get another prefix, so that their
// counters begin at zero: Envoy forgets the counter of a rule when the old filters are gone,
// which is at some time after a push.
func (m *Mesh) stat(i int, in Inbound) string {
	if in.changes == 0 {
		return fmt.Sprintf("%s_inbound%d", m.name, i)
	}
	return fmt.Sprintf("%s_inbound%d_change%d", m.name, i, in.changes)
}

func (m *Mesh) identityName(i int) string {
	return fmt.Sprintf("%s/identity/%d", m.name, m.firstWithIdentity(i))
}
func (m *Mesh) validationName() string { return m.name + "/trust" }

// showsIdentity reports whether an inbound is the first that shows its identity to callers. Envoy
// asks for no other secret, and so never answers that it has one.
func (m *Mesh) showsIdentity(i int) bool {
	return m.inbounds[i].MTLS.TakesTLS() && m.firstWithIdentity(i) == i
}

// firstWithIdentity is the first inbound with the identity of inbound i. The inbounds of one
// workload show the same SVID, as in a mesh.
func (m *Mesh) firstWithIdentity(i int) int {
	return slices.IndexFunc(m.inbounds, func(in Inbound) bool { return in.MTLS.TakesTLS() && in.Identity == m.inbounds[i].Identity })
}
