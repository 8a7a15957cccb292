package caller

import (
	"context"
	"fmt"
	"io"

	"github.com/meshproof/meshproof/policy"
)

// Do sends the call over a fresh connection and returns what the caller got. It
// returns no error: a failure is an [Answer] too. The context bounds the call.
func Do(ctx context.Context, c Call) Answer {
	conn, err := dial(ctx, c)
	if err != nil {
		answer := failure(err)
		if context.Cause(ctx) != nil {
			answer = Answer{Err: fmt.Errorf("%w while connecting: %w", context.Cause(ctx), err)}
		}
		return answer
	}
	defer conn.Close()
	var answer Answer
	switch {
	case c.GRPC != "":
		answer = sendGRPC(ctx, c, conn)
	case c.http2():
		answer = sendHTTP2(ctx, c, conn)
	case c.Protocol == policy.HTTP:
		answer = sendHTTP1(c, conn)
	default:
		answer = sendTCP(c, conn)
	}
	if answer.Outcome != Answered && context.Cause(ctx) != nil {
		return Answer{Err: fmt.Errorf("no answer in time: %w", context.Cause(ctx))}
	}
	return answer
}

func (c Call) http2() bool { return c.Protocol == policy.HTTP2 || c.Protocol == policy.GRPC }

func sendTCP(c Call, conn *conn) Answer {
	payload := c.Payload()
	conn.say(payload)
	echo := make([]byte, len(payload))
	if _, err := io.ReadFull(conn, echo); err != nil {
		return conn.end(err)
	}
	return Answer{Outcome: Answered, Body: string(echo)}
}
