package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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

// Reusable tells whether another call can go over the connection.
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
