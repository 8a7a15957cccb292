package caller

import (
	"context"
	"io"

	"github.com/meshproof/meshproof/policy"
)

// Do sends the call over a fresh connection and returns what the caller got. It
// returns no error: a failure is an [Answer] too. The context bounds the call.
func Do(ctx context.Context, c Call) Answer {
	line := Open(ctx, c, 0)
	defer line.Close()
	return line.Ask(c)
}

func (c Call) http2() bool { return c.Protocol == policy.HTTP2 || c.Protocol == policy.GRPC }

// tcp speaks and listens to the echo. The end of a call is the end of its
// connection.
type tcp struct{ conn *conn }

func (t tcp) ask(_ context.Context, c Call) (Answer, bool) {
	payload := c.Payload()
	t.conn.say([]byte(payload))
	echo := make([]byte, len(payload))
	if _, err := io.ReadFull(t.conn, echo); err != nil {
		return t.conn.end(err), false
	}
	if string(echo) != payload && t.conn.alerted() {
		return t.conn.end(nil), false
	}
	return Answer{Outcome: Answered, Body: string(echo)}, false
}

func (tcp) close() {}
