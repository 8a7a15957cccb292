// Package connection sends calls as one caller. It plays a source and a destination
// address, and shows any credential, sound or not. A [Connection] carries one call or
// several, one after the other.
//
// The package guarantees that a request goes out as stated, byte for byte where the
// protocol permits it. It also guarantees that a failure names its cause: a TLS alert of
// the other side, a connection that the other side closed without a byte, or a failure
// of the transport. The package knows nothing about policies.
package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/policy"
)

// Connection is one connection of one caller. Its calls go out one after the other. It
// is not safe for concurrent use.
type Connection struct {
	ctx      context.Context
	patience time.Duration
	wire     *wire
	protocol protocol
	// broken is the reason why there is no connection.
	broken error
	spent  bool
}

// protocol sends calls over a wire.
type protocol interface {
	// send sends a call and reads its answer. It tells whether another call may follow.
	send(ctx context.Context, c caller.Call) (answer caller.Answer, more bool)
	close()
}

// Open connects for the call and runs the TLS handshake. All calls of the connection must
// play the same addresses and show the same credential to the same inbound. gRPC calls
// must also have the same authority. [Connection.Send] reports a failure to connect.
//
// The end of the context ends the connection at any point. Patience bounds the time to
// connect, and the time of each answer; 0 leaves both to the context. The caller of Open
// must close the connection.
func Open(ctx context.Context, c caller.Call, patience time.Duration) *Connection {
	out := &Connection{ctx: ctx, patience: patience}
	if out.wire, out.broken = dial(ctx, c, patience); out.broken != nil {
		return out
	}
	switch {
	case c.GRPC != "":
		out.protocol, out.broken = newGRPC(c, out.wire)
	case isHTTP2(c):
		out.protocol, out.broken = newHTTP2(ctx, c, out.wire)
	case c.Protocol == policy.HTTP:
		out.protocol = newHTTP1(out.wire)
	default:
		out.protocol = tcp{out.wire}
	}
	return out
}

// Send sends one call and returns its answer. It returns no error: a failure is an
// [caller.Answer] too. A call over a connection that is not reusable is a [caller.Fault].
func (c *Connection) Send(call caller.Call) caller.Answer {
	if c.protocol == nil {
		c.spent = true
		if cause := context.Cause(c.ctx); cause != nil {
			return caller.Answer{Err: fmt.Errorf("%w while connecting: %w", cause, c.broken)}
		}
		if c.wire != nil {
			return c.wire.unanswered(c.broken)
		}
		return answerOf(c.broken)
	}
	if c.spent {
		return caller.Answer{Err: errSpent}
	}
	c.wire.startCall(c.patience)
	answer, more := c.protocol.send(c.ctx, call.WithDefaults())
	c.spent = !more || answer.Outcome != caller.Answered
	switch {
	case answer.Outcome == caller.Answered:
	case context.Cause(c.ctx) != nil:
		return caller.Answer{Err: fmt.Errorf("no answer in time: %w", context.Cause(c.ctx))}
	case errors.Is(answer.Err, os.ErrDeadlineExceeded):
		return caller.Answer{Err: fmt.Errorf("no answer within %s: %w", c.patience, context.DeadlineExceeded)}
	}
	return answer
}

var errSpent = errors.New("the connection cannot be used again")

// Reusable reports whether another call can go over the connection.
func (c *Connection) Reusable() bool { return !c.spent && c.broken == nil && !c.wire.failed() }

// Close ends the connection without a TLS close alert, since no side waits for it.
func (c *Connection) Close() {
	if c.wire != nil {
		_ = c.wire.Close()
	}
	if c.protocol != nil {
		c.protocol.close()
	}
}

// tcp sends a text and reads its echo. The connection ends with the call.
type tcp struct{ wire *wire }

func (t tcp) send(_ context.Context, c caller.Call) (caller.Answer, bool) {
	t.wire.send([]byte(c.Body))
	echo := make([]byte, len(c.Body))
	if _, err := io.ReadFull(t.wire, echo); err != nil {
		return t.wire.unanswered(err), false
	}
	if string(echo) != c.Body && t.wire.alerted() {
		return t.wire.unanswered(nil), false
	}
	return caller.Answer{Outcome: caller.Answered, Body: string(echo)}, false
}

func (tcp) close() {}

// MustBeAlone reports whether a call must not share a connection. A TCP call
// must not, because there the connection is the request. An HTTP call must not when the
// two sides may disagree about its end: bytes of this request could then become a part
// of the next one.
func MustBeAlone(c caller.Call) bool {
	c = c.WithDefaults()
	if c.Protocol.Layer() == policy.L4 || len(c.Body) > sharedBodyMax || c.Method == "CONNECT" {
		return true
	}
	return !isToken(c.Method) || !isVisible(c.Path) || !isVisible(c.Authority) || slices.ContainsFunc(c.Headers, endsConnection)
}

func isHTTP2(c caller.Call) bool { return c.Protocol == policy.HTTP2 || c.Protocol == policy.GRPC }

// sharedBodyMax is the longest body of a call that shares a connection, in bytes. A
// request of that length and its echo fit into the buffers of any socket.
const sharedBodyMax = 2 << 10

// endsConnection reports whether the header changes the end of a request or the
// connection (RFC 9112, sections 6, 7 and 9; RFC 9110, sections 7.6.1, 7.8 and 10.1.1),
// or whether a reader may take it for more than one line.
func endsConnection(h policy.Header) bool {
	if !isToken(h.Name) || strings.ContainsAny(h.Value, "\r\n\x00") {
		return true
	}
	return slices.ContainsFunc(connectionHeaders, func(name string) bool { return strings.EqualFold(name, h.Name) })
}

var connectionHeaders = []string{
	"connection", "content-length", "expect", "http2-settings", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
}

// isToken follows RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// isVisible reports whether s cannot end a field of the request line.
func isVisible(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\x7f' })
}
