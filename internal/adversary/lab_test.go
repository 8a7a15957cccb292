package adversary_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"
	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"

	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/controlplane"
	"github.com/meshproof/meshproof/internal/envoy"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
	"github.com/meshproof/meshproof/xds"
)

// lab is an Envoy that gets requests from [adversary.Request.Exchange]. A harness sends with
// libraries, and libraries refuse some of these requests. Otherwise the lab has the same
// parts as a harness.
type lab struct {
	upstream *upstream.Upstream
	dial     string
	inbounds map[string]controlplane.Inbound
	bundles  *x509bundle.Set
	caller   *certs.Credential
	source   atomic.Uint32

	mu   sync.Mutex
	logs map[netip.AddrPort]chan xds.AccessLog
}

// patience is the time limit of each wait. All of them take milliseconds.
const patience = 20 * time.Second

// startLab starts an inbound of both protocols for each of the filters, with the names
// "http/..." and "http2/...".
func startLab(t *testing.T, version string, filters map[string]xds.Filters) *lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	plan := must(envoy.Prepare(ctx, envoy.Options{Version: version, Runtime: envoy.Process, Ports: 1}))(t)
	place := plan.Surroundings()
	l := &lab{inbounds: map[string]controlplane.Inbound{}, logs: map[netip.AddrPort]chan xds.AccessLog{}}
	l.source.Store(1024)
	l.upstream = must(upstream.Start(ctx, place.BindAddress))(t)
	closeAfter(t, l.upstream.Close)

	ca := must(certs.NewAuthority(domain))(t)
	l.bundles, l.caller = x509bundle.NewSet(ca.Bundle()), must(ca.Mint(attacker))(t)
	plane, proxy := spiffeid.RequireFromPath(domain, "/control-plane"), spiffeid.RequireFromPath(domain, "/proxy")
	var lc net.ListenConfig
	listener := must(lc.Listen(ctx, "tcp", net.JoinHostPort(place.BindAddress, "0")))(t)
	control := controlplane.Serve(listener, &tls.Config{
		MinVersion:            tls.VersionTLS13,
		Certificates:          []tls.Certificate{must(ca.Mint(plane))(t).TLSCertificate()},
		ClientAuth:            tls.RequireAnyClientCert,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(l.bundles, tlsconfig.AuthorizeID(proxy)),
		NextProtos:            []string{"h2"},
	}, controlplane.Records{Entry: l.entry})
	closeAfter(t, func() error { control.Close(); return nil })

	address := func(port int) string { return net.JoinHostPort(place.HostName, strconv.Itoa(port)) }
	bootstrap := must(controlplane.Bootstrap{
		Admin:        place.Admin,
		ControlPlane: address(listener.Addr().(*net.TCPAddr).Port),
		UpstreamHTTP: address(l.upstream.HTTPPort()),
		UpstreamTCP:  address(l.upstream.TCPPort()),

		UpstreamSecret: l.upstream.Secret(),

		Proxy:     must(ca.Mint(proxy))(t),
		Authority: plane.String(),
		Bundles:   l.bundles,
	}.JSON())(t)
	running := must(plan.Start(ctx, bootstrap))(t)
	closeAfter(t, running.Close)
	select {
	case <-control.Connected():
	case <-running.Done():
		t.Fatal(running.Err())
	case <-ctx.Done():
		t.Fatal("Envoy did not connect to its control plane")
	}
	update := controlplane.Update{Secrets: []controlplane.Secret{
		controlplane.IdentitySecret("backend", must(ca.Mint(backend))(t)),
		must(controlplane.ValidationSecret("trust", l.bundles))(t),
	}}
	slot := running.Slot(0)
	l.dial = slot.Dial
	listen := controlplane.Listener{Name: "lab", Bind: slot.Listen, Dial: slot.Dial, Validation: "trust"}
	for name, f := range filters {
		for _, protocol := range []policy.Protocol{policy.HTTP, policy.HTTP2} {
			i := len(listen.Inbounds)
			in := controlplane.Inbound{
				Stat:        fmt.Sprintf("inbound%d", i),
				Destination: netip.AddrPortFrom(netip.MustParseAddr("10.0.0.7"), uint16(8000+i)),
				Protocol:    protocol, Identity: "backend", Filters: f,
			}
			l.inbounds[protocol.String()+"/"+name] = in
			listen.Inbounds = append(listen.Inbounds, in)
		}
	}
	update.Listeners = []controlplane.Listener{listen}
	if err := control.Push(ctx, update); err != nil {
		t.Fatal(err)
	}
	return l
}

// must returns a value, or ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func closeAfter(t *testing.T, end func() error) {
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// entry gives an access log entry to the waiting caller. A request leaves two entries: its
// own and the entry of its connection.
func (l *lab) entry(e xds.AccessLog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if to := l.logs[e.Caller]; to != nil {
		to <- e
	}
}

func (l *lab) watch(caller netip.AddrPort) <-chan xds.AccessLog {
	// The buffer holds more entries than a connection leaves, so that writing never waits.
	entries := make(chan xds.AccessLog, 8)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.logs[caller] = entries
	return entries
}

func (l *lab) forget(caller netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.logs, caller)
}

// trace has what each side saw of a request.
type trace struct {
	reply   adversary.Reply
	arrival *arrival.Record
	// log is the entry of the request, or the zero value when Envoy saw no request.
	log xds.AccessLog
}

// send sends one request to the inbound and collects its traces.
func (l *lab) send(ctx context.Context, inbound string, r adversary.Request) (trace, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in, ok := l.inbounds[r.Protocol.String()+"/"+inbound]
	if !ok {
		return trace{}, fmt.Errorf("no inbound %s of protocol %s", inbound, r.Protocol)
	}
	source := netip.AddrPortFrom(netip.MustParseAddr("10.0.0.9"), uint16(l.source.Add(1)))
	entries := l.watch(source)
	defer l.forget(source)
	l.upstream.Watch(source)
	var got trace
	err := l.call(ctx, in, source, func(conn net.Conn) (err error) {
		got.reply, err = r.Exchange(ctx, conn)
		return err
	})
	// The entry of the connection comes when it is closed. The entry of the request may
	// come before or after it.
	for connection := false; err == nil && !(connection && (got.log.Request || got.reply.Status == 0)); {
		select {
		case e := <-entries:
			if e.Request {
				got.log = e
			} else {
				connection = true
			}
		case <-ctx.Done():
			err = fmt.Errorf("the caller saw %s, but an access log entry is missing", got.reply)
		}
	}
	got.arrival = l.upstream.Take(source)
	if err != nil {
		return trace{}, fmt.Errorf("%s to %s: %w", r.Name, inbound, err)
	}
	return got, nil
}

// call opens a connection and closes it after the conversation.
func (l *lab) call(ctx context.Context, in controlplane.Inbound, source netip.AddrPort, speak func(net.Conn) error) error {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "tcp", l.dial)
	if err != nil {
		return err
	}
	defer raw.Close()
	played := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(source), net.TCPAddrFromAddrPort(in.Destination))
	if _, err := played.WriteTo(raw); err != nil {
		return err
	}
	alpn := "http/1.1"
	if in.Protocol == policy.HTTP2 {
		alpn = "h2"
	}
	secured := tls.Client(raw, &tls.Config{
		MinVersion: tls.VersionTLS13,
		// The name of the server is its SPIFFE ID, and the next field verifies it.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(l.bundles, tlsconfig.AuthorizeID(backend)),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			shown := l.caller.TLSCertificate()
			return &shown, nil
		},
		NextProtos: []string{alpn},
	})
	if err := secured.HandshakeContext(ctx); err != nil {
		return err
	}
	return speak(secured)
}
