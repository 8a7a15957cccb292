package connection

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/pires/go-proxyproto"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

// dial connects, plays the addresses and runs the TLS handshake, unless the call is
// plaintext. The end of the context closes the connection.
func dial(ctx context.Context, c caller.Call, patience time.Duration) (*wire, error) {
	dialer := net.Dialer{Timeout: patience}
	raw, err := dialer.DialContext(ctx, "tcp", c.Dial)
	if err != nil {
		return nil, err
	}
	out := &wire{Conn: raw, raw: raw, ended: make(chan struct{})}
	out.startCall(patience)
	out.stopWatch = context.AfterFunc(ctx, func() { _ = raw.Close() })
	if _, err := played(c).WriteTo(raw); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	if c.Plaintext {
		return out, nil
	}
	secured := tls.Client(raw, tlsConfig(c))
	out.Conn = secured
	// The end of the context closes the connection, which also ends the handshake.
	if err := secured.Handshake(); err != nil {
		_ = out.Close()
		return nil, err
	}
	return out, nil
}

// played is the PROXY protocol header of a call. Both addresses in it are of one family, so
// that a caller of IPv6 plays the address of the inbound in the notation of IPv6
// (RFC 4291, section 2.5.5.2).
func played(c caller.Call) *proxyproto.Header {
	source, destination := net.TCPAddrFromAddrPort(c.Source), net.TCPAddrFromAddrPort(c.Destination)
	out := &proxyproto.Header{Version: 2, Command: proxyproto.PROXY, TransportProtocol: proxyproto.TCPv4, SourceAddr: source, DestinationAddr: destination}
	if c.Source.Addr().Is6() {
		out.TransportProtocol = proxyproto.TCPv6
	}
	return out
}

// tlsConfig always sends the credential. By default, Go's client sends no certificate
// when the server does not ask for its issuer. A test of a foreign CA would then
// silently become a test without a certificate.
func tlsConfig(c caller.Call) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		// There are many callers and their secrets have no value, so the cheapest key
		// exchange is right.
		CurvePreferences: []tls.CurveID{tls.CurveP256},
		// Go would look for a DNS name. The name of the server is its SPIFFE ID, and the
		// next field verifies it.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: verifier(c),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if c.Credential == nil {
				return &tls.Certificate{}, nil
			}
			cert := c.Credential.TLSCertificate()
			return &cert, nil
		},
		ServerName: c.SNI,
		NextProtos: alpn(c),
	}
}

func alpn(c caller.Call) []string {
	if isHTTP2(c) {
		return []string{"h2"}
	}
	if c.Protocol.Layer() == policy.L4 {
		return nil
	}
	return []string{"http/1.1"}
}

// wire is a connection that remembers how reading ended. The protocols above it tend to
// hide that.
type wire struct {
	net.Conn
	raw       net.Conn
	stopWatch func() bool // stops the watch on the context

	sending sync.WaitGroup

	mu       sync.Mutex
	first    byte          // the first byte that was read
	received int           // the number of bytes read since startCall
	readErr  error         // the error that ended reading
	ended    chan struct{} // closed with readErr
}

// tlsAlert is the content type at the start of a TLS alert record. A plaintext caller
// reads it from an inbound that expects TLS.
const tlsAlert = 21

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.received == 0 && n > 0 {
		w.first = p[0]
	}
	w.received += n
	if err != nil && w.readErr == nil {
		w.readErr = err
		close(w.ended)
	}
	return n, err
}

// Write never fails. The reason of a broken connection, for example an alert, can still
// be read. A protocol that sees a write error would close before it reads the reason.
func (w *wire) Write(p []byte) (int, error) {
	_, _ = w.Conn.Write(p)
	return len(p), nil
}

// startCall starts a new count of bytes: the next bytes belong to the next call.
func (w *wire) startCall(patience time.Duration) {
	if patience > 0 {
		_ = w.raw.SetReadDeadline(time.Now().Add(patience))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.received = 0
}

// failed reports whether reading has ended.
func (w *wire) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.readErr != nil
}

// hasByte reports whether a byte was read.
func (w *wire) hasByte() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.received > 0
}

// sendMax is a number of bytes that the buffers of any socket hold.
const sendMax = 4 << 10

// send writes the text. It writes a long text in the background, while the answer is
// read, because the other side may answer before it has read everything.
func (w *wire) send(text []byte) {
	if len(text) <= sendMax {
		_, _ = w.Write(text)
		return
	}
	w.sending.Go(func() { _, _ = w.Write(text) })
}

// Close closes the TCP connection without a TLS close alert, since no side waits for it.
func (w *wire) Close() error {
	w.stopWatch()
	err := w.raw.Close()
	w.sending.Wait()
	return err
}

// unanswered returns the Answer of a call without an answer. An error of the protocol
// counts only when reading itself did not fail.
func (w *wire) unanswered(err error) caller.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.readErr != nil {
		err = w.readErr
	}
	if w.alertedLocked() {
		return caller.Answer{Outcome: caller.Alert, Err: errors.New("a TLS alert answered the plaintext")}
	}
	answer := answerOf(err)
	if answer.Outcome == caller.Closed && w.received > 0 {
		// A broken answer is no refusal.
		answer.Outcome = caller.Fault
		answer.Err = fmt.Errorf("the connection was closed after %d bytes: %w", w.received, err)
	}
	return answer
}

// alerted reports whether the other side answered plaintext with a TLS alert.
func (w *wire) alerted() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.alertedLocked()
}

func (w *wire) alertedLocked() bool {
	_, secured := w.Conn.(*tls.Conn)
	return !secured && w.first == tlsAlert
}

// answerOf returns the Answer of a call that failed with err.
func answerOf(err error) caller.Answer {
	var op *net.OpError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &op) && op.Op == "remote error":
		return caller.Answer{Outcome: caller.Alert, Err: op}
	case errors.As(err, &unknown):
		return caller.Answer{Outcome: caller.Fault, Err: err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return caller.Answer{Outcome: caller.Closed, Err: err}
	default:
		return caller.Answer{Outcome: caller.Fault, Err: err}
	}
}
