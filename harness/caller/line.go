package caller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/meshproof/meshproof/policy"
)

// Line is one connection of one caller, over which its calls go out one after the
// other. It is not safe for concurrent use.
type Line struct {
	ctx      context.Context
	patience time.Duration
	conn     *conn
	speech   speech
	// broken is why there is no connection, or none any more.
	broken error
	spent  bool
}

// speech is what a protocol makes of a connection.
type speech interface {
	// ask sends a call and reads its answer. It tells whether another may follow.
	ask(ctx context.Context, c Call) (answer Answer, more bool)
	close()
}

// Open connects as the call says, and shakes hands. All calls of the line have to
// play the same addresses and show the same credential, to the same inbound; of gRPC
// calls they have the authority in common too. A failure to connect is the answer
// that [Line.Ask] gives.
//
// The context ends the line, whatever is under way. Patience bounds the way to the
// connection, and each answer; 0 leaves both to the context. The line has to be
// closed.
func Open(ctx context.Context, c Call, patience time.Duration) *Line {
	l := &Line{ctx: ctx, patience: patience}
	if l.conn, l.broken = dial(ctx, c, patience); l.broken != nil {
		return l
	}
	switch {
	case c.GRPC != "":
		l.speech, l.broken = newGRPC(c, l.conn)
	case c.http2():
		l.speech, l.broken = newHTTP2(ctx, c, l.conn)
	case c.Protocol == policy.HTTP:
		l.speech = newHTTP1(l.conn)
	default:
		l.speech = tcp{l.conn}
	}
	return l
}

// Ask sends one call and returns what the caller got. A call over a connection that
// a call before it has spent is a [Fault].
func (l *Line) Ask(c Call) Answer {
	if l.speech == nil {
		l.spent = true
		if cause := context.Cause(l.ctx); cause != nil {
			return Answer{Err: fmt.Errorf("%w while connecting: %w", cause, l.broken)}
		}
		if l.conn != nil {
			return l.conn.end(l.broken)
		}
		return failure(l.broken)
	}
	if l.spent {
		return Answer{Err: errSpent}
	}
	l.conn.begin(l.patience)
	answer, more := l.speech.ask(l.ctx, c)
	l.spent = !more || answer.Outcome != Answered
	switch {
	case answer.Outcome == Answered:
	case context.Cause(l.ctx) != nil:
		return Answer{Err: fmt.Errorf("no answer in time: %w", context.Cause(l.ctx))}
	case errors.Is(answer.Err, os.ErrDeadlineExceeded):
		return Answer{Err: fmt.Errorf("no answer within %s: %w", l.patience, context.DeadlineExceeded)}
	}
	return answer
}

var errSpent = errors.New("the connection cannot be used again")

// Spent tells that no other call can go over the line.
func (l *Line) Spent() bool { return l.spent || l.broken != nil || l.conn.failed() }

// Close ends the connection without a TLS farewell: nobody waits for it.
func (l *Line) Close() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
	if l.speech != nil {
		l.speech.close()
	}
}
