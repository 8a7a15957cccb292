package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"github.com/meshproof/meshproof/policy"
)

// Reply is what came back for a request.
type Reply struct {
	// Status is that of an HTTP response, 0 where there was none.
	Status int
	// Ended says how it ended without a response: "closed", or the HTTP/2 frame
	// and its code, as in "RST_STREAM PROTOCOL_ERROR".
	Ended string
}

// String returns the status, or the end.
func (r Reply) String() string {
	if r.Status == 0 {
		return r.Ended
	}
	return fmt.Sprint(r.Status)
}

// Exchange sends the request as it stands over a connection of its own, on which
// any TLS handshake is over, and reads the reply up to the head of the final
// response. It leaves the connection to the caller, who has to close it, unless
// the context ends first: then it is closed, and the error is the context's cause. A
// refusal is no error; an error says that the transport failed, or that what came
// back is not HTTP.
func (r Request) Exchange(ctx context.Context, conn net.Conn) (Reply, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	text, read := r.head(), readHTTP1
	if r.Protocol == policy.HTTP2 {
		text, read = r.frames(), readHTTP2
	}
	// Where writing fails, the other side has closed, and why stands in what can
	// still be read.
	_, _ = conn.Write(text)
	reply, err := read(conn)
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return Reply{}, fmt.Errorf("adversary: send %s: %w", r.Name, context.Cause(ctx))
	case closed(err):
		return Reply{Ended: "closed"}, nil
	default:
		return Reply{}, fmt.Errorf("adversary: send %s: %w", r.Name, err)
	}
}

// closed tells of a connection that the other side ended.
func closed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
