package harness

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/behavior"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/outboundlog"
	"github.com/meshproof/meshproof/internal/upstream"
)

// Harness is a running Envoy with its control plane and upstream. It is safe for
// concurrent use.
type Harness struct {
	options   options
	version   string
	behavior  behavior.Set
	envoy     *envoy.Envoy
	plan      *envoy.Plan
	control   *controlplane.ControlPlane
	upstream  *upstream.Upstream
	collector *collector
	sources   *sources
	slots     *slots

	closing sync.Once
	closed  error

	mu     sync.Mutex
	meshes uint64

	// silences counts the pushes and batches in a row that got no answer.
	silences atomic.Int64
}

// connectTimeout bounds the time from the start of Envoy to its ADS stream. It takes a
// tenth of a second as a rule.
const connectTimeout = 20 * time.Second

// Start runs Envoy and returns when Envoy is connected to its control plane. The context
// bounds the start only. The caller of Start must close the harness; [New] does both for a
// test. The error wraps [ErrUnknownVersion] if the version is not available.
func Start(ctx context.Context, opts ...Option) (*Harness, error) {
	h := &Harness{
		options: options{
			connectTimeout: connectTimeout, pushTimeout: pushTimeout, adminTimeout: adminTimeout, envoy: envoy.Options{Ports: defaultMeshes},
			upstreamPort: func(port int) int { return port }, beforeOutbound: func(outboundlog.Entry) {},
		},
		collector: newCollector(),
		sources:   newSources(),
	}
	for _, opt := range opts {
		opt(&h.options)
	}
	// The probe has a port of its own.
	h.options.envoy.Ports++
	if err := h.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("harness: start: %w", err), h.Close())
	}
	return h, nil
}

func (h *Harness) start(ctx context.Context) (err error) {
	if h.plan, err = envoy.Prepare(ctx, h.options.envoy); err != nil {
		return err
	}
	place := h.plan.Surroundings()
	if h.upstream, err = upstream.Start(ctx, place.BindAddress); err != nil {
		return err
	}
	channel, err := newControlChannel()
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", net.JoinHostPort(place.BindAddress, "0"))
	if err != nil {
		return fmt.Errorf("listen for the control plane: %w", err)
	}
	h.control = controlplane.Serve(listener, channel.serverTLS(), controlplane.Records{
		Entry: h.collector.add, Asked: h.collector.ask,
		Outbound: func(e outboundlog.Entry, err error) {
			h.options.beforeOutbound(e)
			h.collector.addOutbound(e, err)
		},
	})
	address := func(port int) string { return net.JoinHostPort(place.HostName, strconv.Itoa(port)) }
	bootstrap, err := controlplane.Bootstrap{
		Admin:        place.Admin,
		AdminGate:    place.AdminGate,
		ControlPlane: address(listener.Addr().(*net.TCPAddr).Port),
		UpstreamHTTP: address(h.options.upstreamPort(h.upstream.HTTPPort())),
		UpstreamTCP:  address(h.options.upstreamPort(h.upstream.TCPPort())),

		UpstreamSecret: h.upstream.Secret(),

		Proxy:     channel.proxy,
		Authority: controlPlaneID.String(),
		Bundles:   channel.bundles,
	}.JSON()
	if err != nil {
		return err
	}
	if h.envoy, err = h.plan.Start(ctx, bootstrap); err != nil {
		return err
	}
	h.envoy.SecureAdmin(channel.clientTLS())
	h.slots = newSlots(h.envoy)
	// Envoy takes the listener of the probe with its first answer of the control plane.
	probed := make(chan error, 1)
	probing, stop := context.WithCancel(ctx)
	defer stop()
	go func() { probed <- h.probe(probing) }()
	if err := h.awaitEnvoy(ctx); err != nil {
		stop()
		<-probed
		return err
	}
	return <-probed
}

// awaitEnvoy waits until Envoy is connected to its control plane.
func (h *Harness) awaitEnvoy(ctx context.Context) (err error) {
	patience := time.NewTimer(h.options.connectTimeout)
	defer patience.Stop()
	select {
	case <-h.control.Connected():
		h.version, err = h.envoy.Version(ctx)
		return err
	case <-h.envoy.Done():
		return h.envoy.Err()
	case <-ctx.Done():
		return fmt.Errorf("waiting for Envoy to connect: %w", context.Cause(ctx))
	case <-patience.C:
		return fmt.Errorf("no ADS stream of Envoy came within %s: %w", h.options.connectTimeout, h.whyNotConnected(ctx))
	}
}

// probe asks Envoy how it behaves.
func (h *Harness) probe(ctx context.Context) (err error) {
	ctx, stop := h.untilEnvoyEnds(ctx)
	defer stop()
	patience := h.options.connectTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, patience, silentPush(patience))
	defer cancel()
	slot := h.envoy.Slot(probeSlot(h.envoy))
	h.behavior, err = h.control.Probe(ctx, slot.Listen, slot.Dial)
	return err
}

// Behavior is what the running Envoy does where releases differ. It was probed when Envoy
// started.
func (h *Harness) Behavior() behavior.Set { return h.behavior }

// Version is the release that the running Envoy states, such as "1.40.0". It is the
// version that the options name; otherwise [Start] fails with [ErrUnknownVersion].
func (h *Harness) Version() string { return h.version }

// Digest returns the SHA-256 of the binary that runs, in hex. It reads the whole binary,
// which takes some tenths of a second. It fails where a container is gone, or has the
// binary at another path than /usr/local/bin/envoy.
func (h *Harness) Digest(ctx context.Context) (string, error) { return h.envoy.Digest(ctx) }

// Runtime tells whether Envoy runs in a container or as a process.
func (h *Harness) Runtime() Runtime { return h.plan.Runtime() }

// Close ends Envoy and everything that was started with it, and waits for the end. It may
// be called more than once.
func (h *Harness) Close() error {
	h.closing.Do(func() {
		var errs []error
		if h.envoy != nil {
			errs = append(errs, h.envoy.Close())
		}
		if h.control != nil {
			h.control.Close()
		}
		if h.upstream != nil {
			errs = append(errs, h.upstream.Close())
		}
		h.closed = errors.Join(errs...)
	})
	return h.closed
}

// errClosed is the cause of a call that the end of the harness interrupts.
var errClosed = errors.New("the harness is closed")

// untilEnvoyEnds returns a context that also ends when Envoy ends, with the reason as its
// cause.
func (h *Harness) untilEnvoyEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	ended := func() { cancel(cmp.Or(h.envoy.Err(), errClosed)) }
	stop := make(chan struct{})
	select {
	case <-h.envoy.Done():
		ended()
	default:
		go func() {
			select {
			case <-h.envoy.Done():
				ended()
			case <-stop:
			}
		}()
	}
	return ctx, sync.OnceFunc(func() {
		close(stop)
		cancel(nil)
	})
}

// New starts a harness for a test, and closes it when the test and its subtests are over. The
// test fails if Envoy does not start.
func New(t testing.TB, opts ...Option) *Harness {
	t.Helper()
	h, err := Start(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// Mesh makes a mesh for a test, and removes it when the test is over.
func (h *Harness) Mesh(t testing.TB, spec MeshSpec) *Mesh {
	t.Helper()
	m, err := h.NewMesh(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := m.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return m
}

// The identities of the control channel have a trust domain of their own, which no inbound
// trusts.
var (
	controlDomain  = spiffeid.RequireTrustDomainFromString("control.meshproof")
	controlPlaneID = spiffeid.RequireFromPath(controlDomain, "/control-plane")
	proxyID        = spiffeid.RequireFromPath(controlDomain, "/proxy")
)

// controlChannel has the credentials of the xDS and access log streams. They are minted for
// one harness and are never stored.
type controlChannel struct {
	server, proxy *certs.Credential
	bundles       *x509bundle.Set
}

func newControlChannel() (*controlChannel, error) {
	ca, err := certs.NewAuthority(controlDomain)
	if err != nil {
		return nil, err
	}
	c := &controlChannel{bundles: x509bundle.NewSet(ca.Bundle())}
	if c.server, err = ca.Mint(controlPlaneID); err != nil {
		return nil, err
	}
	if c.proxy, err = ca.Mint(proxyID); err != nil {
		return nil, err
	}
	return c, nil
}

// clientTLS is for the gate of the admin endpoint.
func (c *controlChannel) clientTLS() *tls.Config {
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{c.server.TLSCertificate()},
		// The proxy has a SPIFFE ID and no DNS name. The next field verifies it.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(c.bundles, tlsconfig.AuthorizeID(proxyID)),
	}
}

func (c *controlChannel) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion:            tls.VersionTLS13,
		Certificates:          []tls.Certificate{c.server.TLSCertificate()},
		ClientAuth:            tls.RequireAnyClientCert,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(c.bundles, tlsconfig.AuthorizeID(proxyID)),
		NextProtos:            []string{"h2"},
	}
}
