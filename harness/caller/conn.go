package caller

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
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"

	"github.com/meshproof/meshproof/policy"
)

// dial connects, plays the addresses and, unless the call is plaintext, shakes
// hands. The connection is closed when the context ends; none comes of one that has
// ended already.
func dial(ctx context.Context, c Call, patience time.Duration) (*conn, error) {
	dialer := net.Dialer{Timeout: patience}
	raw, err := dialer.DialContext(ctx, "tcp", c.Dial)
	if err != nil {
		return nil, err
	}
	out := &conn{Conn: raw, raw: raw}
	out.begin(patience)
	out.stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
	played := proxyproto.HeaderProxyFromAddrs(2, net.TCPAddrFromAddrPort(c.Source), net.TCPAddrFromAddrPort(c.Destination))
	if _, err := played.WriteTo(raw); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	if c.Plaintext {
		return out, nil
	}
	secured := tls.Client(raw, tlsConfig(c))
	out.Conn = secured
	// The end of the context closes the connection, and thus ends the handshake too.
	if err := secured.Handshake(); err != nil {
		_ = out.Close()
		return nil, err
	}
	return out, nil
}

// tlsConfig forces the credential on the server: Go's client withholds by itself
// a certificate whose issuer the server does not ask for, and a test of a foreign
// CA would silently become a test without a certificate.
func tlsConfig(c Call) *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// Callers are many and their secrets worthless: the key exchange that costs both
		// sides least.
		CurvePreferences: []tls.CurveID{tls.CurveP256},
		// The server's name is its SPIFFE ID, verified below; Go would look for a DNS
		// name.
		InsecureSkipVerify:    true,
		VerifyPeerCertificate: tlsconfig.VerifyPeerCertificate(c.Bundles, tlsconfig.AuthorizeID(c.Server)),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			if c.Credential == nil {
				return &tls.Certificate{}, nil
			}
			cert := c.Credential.TLSCertificate()
			return &cert, nil
		},
		NextProtos: c.alpn(),
	}
	return config
}

func (c Call) alpn() []string {
	if c.http2() {
		return []string{"h2"}
	}
	if c.Protocol.Layer() == policy.L4 {
		return nil
	}
	return []string{"http/1.1"}
}

// conn remembers how reading ended, which the protocols above it tend to hide.
type conn struct {
	net.Conn
	raw  net.Conn
	stop func() bool

	saying sync.WaitGroup

	mu    sync.Mutex
	first byte
	got   int
	fail  error
}

// tlsAlert is the content type that opens a TLS alert record: what a plaintext
// caller reads from an inbound that speaks TLS.
const tlsAlert = 21

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.got == 0 && n > 0 {
		c.first = p[0]
	}
	c.got += n
	if err != nil && c.fail == nil {
		c.fail = err
	}
	return n, err
}

// Write never fails: where the connection is broken the reason, say an alert,
// stands in what can still be read, and a protocol that learns of the failure
// here closes before it reads that.
func (c *conn) Write(p []byte) (int, error) {
	_, _ = c.Conn.Write(p)
	return len(p), nil
}

// begin forgets what was read so far: what follows belongs to the next call.
func (c *conn) begin(patience time.Duration) {
	if patience > 0 {
		_ = c.raw.SetReadDeadline(time.Now().Add(patience))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = 0
}

// failed tells that reading came to an end.
func (c *conn) failed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fail != nil
}

// sayMax is what a socket's buffers surely hold, in bytes.
const sayMax = 4 << 10

// say writes. What is long it writes while the answer is read, for the other side may
// answer before it has read everything.
func (c *conn) say(text []byte) {
	if len(text) <= sayMax {
		_, _ = c.Write(text)
		return
	}
	c.saying.Go(func() { _, _ = c.Write(text) })
}

// Close closes the TCP connection without a TLS farewell: nobody waits for it.
func (c *conn) Close() error {
	c.stop()
	err := c.raw.Close()
	c.saying.Wait()
	return err
}

// end returns what a call comes to that got no answer. The error of the protocol
// counts where reading itself did not fail.
func (c *conn) end(err error) Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil {
		err = c.fail
	}
	if c.alertedLocked() {
		return Answer{Outcome: Alert, Err: errors.New("a TLS alert answered the plaintext")}
	}
	answer := failure(err)
	if answer.Outcome == Closed && c.got > 0 {
		// An answer that breaks off is no refusal.
		answer.Outcome = Fault
		answer.Err = fmt.Errorf("the connection was closed after %d bytes: %w", c.got, err)
	}
	return answer
}

// alerted tells that the other side took plaintext for TLS that it cannot read.
func (c *conn) alerted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.alertedLocked()
}

func (c *conn) alertedLocked() bool {
	_, secured := c.Conn.(*tls.Conn)
	return !secured && c.first == tlsAlert
}

func failure(err error) Answer {
	var op *net.OpError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &op) && op.Op == "remote error":
		return Answer{Outcome: Alert, Err: op}
	case errors.As(err, &unknown):
		return Answer{Outcome: Fault, Err: err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Answer{Outcome: Closed, Err: err}
	default:
		return Answer{Outcome: Fault, Err: err}
	}
}
