package connection

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	http2lib "golang.org/x/net/http2"
	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/harness/caller"
	"github.com/meshproof/meshproof/internal/exchange"
	"github.com/meshproof/meshproof/internal/upstream"
	"github.com/meshproof/meshproof/policy"
)

// SendRouted sends a request of a workload to its own sidecar, over a connection of its own. The
// call has the addresses and the request, in plaintext. Left ends the time that the caller
// keeps the connection. An error is one of the lab: no connection, or a request that cannot go
// out as stated.
func SendRouted(ctx context.Context, c caller.Call, r exchange.Request, patience time.Duration, left <-chan struct{}) (exchange.Answer, error) {
	w, err := dial(ctx, c, 0)
	if err != nil {
		return exchange.Answer{}, err
	}
	defer w.Close()
	if r.Patience > 0 {
		patience = r.Patience
	}
	began := time.Now()
	_ = w.raw.SetReadDeadline(began.Add(patience))
	c = c.WithDefaults()
	through := &routedRequest{wire: w, call: c, request: r}
	switch {
	case isHTTP2(c):
		err = through.http2(ctx)
	case c.Protocol == policy.HTTP:
		through.http1()
	default:
		through.tcp()
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return exchange.Answer{}, err
	}
	through.answer.Took = time.Since(began)
	if r.Keep > 0 && through.answer.End == exchange.Complete {
		through.keep(ctx, left)
	}
	return through.answer, nil
}

// routedRequest is a request on its way.
type routedRequest struct {
	wire    *wire
	call    caller.Call
	request exchange.Request
	answer  exchange.Answer
}

// ended says how the answer ended, from the error that ended reading. Begun tells that its head
// was there.
func (t *routedRequest) ended(err error, begun bool) {
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	if t.wire.readErr != nil {
		err = t.wire.readErr
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		t.answer.End = exchange.GaveUp
	case begun:
		t.answer.End = exchange.Cut
	case errors.Is(err, io.EOF):
		t.answer.End = exchange.Closed
	default:
		// A reset of the connection, or of the stream of HTTP/2.
		t.answer.End = exchange.Reset
	}
}

// keep waits for the end of the connection, of the time, or of what left says.
func (t *routedRequest) keep(ctx context.Context, left <-chan struct{}) {
	began := time.Now()
	_ = t.wire.raw.SetReadDeadline(time.Time{})
	over := make(chan struct{})
	go func() {
		defer close(over)
		// HTTP/2 has a reader of its own, which ends with the connection.
		for b := make([]byte, 1); !t.wire.failed() && !isHTTP2(t.call); {
			_, _ = t.wire.Read(b)
		}
		<-t.wire.ended
	}()
	timer := time.NewTimer(t.request.Keep)
	defer timer.Stop()
	if t.call.Protocol == policy.TCP {
		// Over tcp the sidecar ends the connection of the caller too, perhaps a moment later.
		left = nil
	}
	select {
	case <-over:
		t.answer.Ended = true
	case <-left:
	case <-timer.C:
	case <-ctx.Done():
	}
	t.answer.Kept = time.Since(began)
	_ = t.wire.Close()
	<-over
}

func (t *routedRequest) http1() {
	raw := appendHTTP1(nil, t.call)
	head, body := raw[:len(raw)-len(t.call.Body)], raw[len(raw)-len(t.call.Body):]
	sent := t.inParts(head[:len(head)/2], t.request.HeadPause, head[len(head)/2:], t.request.BodyPause, body)
	defer sent()
	response, err := http.ReadResponse(bufio.NewReader(t.wire), &http.Request{Method: t.call.Method})
	if err != nil {
		t.ended(err, t.wire.hasByte())
		return
	}
	defer response.Body.Close()
	t.answer.Status = response.StatusCode
	t.readBody(response.Body)
}

// inParts sends bytes, and pauses. It returns a function that ends it.
func (t *routedRequest) inParts(parts ...any) (end func()) {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for _, part := range parts {
			switch part := part.(type) {
			case []byte:
				_, _ = t.wire.Write(part)
			case time.Duration:
				if !pause(part, stop) {
					return
				}
			}
		}
	}()
	return func() {
		close(stop)
		_ = t.wire.raw.SetWriteDeadline(time.Unix(1, 0))
		<-done
	}
}

// pause reports false where it was stopped.
func pause(d time.Duration, stop <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stop:
		return false
	}
}

// readBody reads an answer to its end.
func (t *routedRequest) readBody(body io.Reader) {
	buffer := make([]byte, 4<<10)
	for {
		n, err := body.Read(buffer)
		t.answer.Bytes += n
		if room := caller.BodyMax - len(t.answer.Body); room > 0 {
			t.answer.Body += string(buffer[:min(n, room)])
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.ended(err, t.answer.Status != 0 || t.answer.Bytes > 0)
			return
		}
	}
}

func (t *routedRequest) tcp() {
	sent := t.inParts([]byte(t.call.Body))
	defer sent()
	t.answer.End = exchange.Complete
	want := len(t.call.Body) + t.request.Answer.Parts*len(upstream.Part)
	t.readBody(io.LimitReader(notEOF{t.wire}, int64(want)))
}

// notEOF makes the end of a connection an error, so that a short echo is one.
type notEOF struct{ *wire }

func (n notEOF) Read(p []byte) (int, error) {
	got, err := n.wire.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return got, err
}

// http2 sends plain HTTP/2, and gRPC, whose frames and trailers it reads itself: a client of
// gRPC would not tell a status of the sidecar from one of its own.
func (t *routedRequest) http2(ctx context.Context) error {
	isGRPC := t.call.GRPC != ""
	connection, err := newHTTP2(ctx, t.call, t.wire)
	if err != nil {
		return err
	}
	client := connection.(http2).client
	defer func() {
		if t.request.Keep == 0 {
			_ = client.Close()
		}
	}()
	request, err := newRequest(ctx, t.call)
	if err != nil {
		return err
	}
	body := []byte(t.call.Body)
	if isGRPC {
		request.Header.Set("Content-Type", "application/grpc")
		request.Header.Set("Te", "trailers")
		body = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	}
	stop := make(chan struct{})
	defer close(stop)
	if t.request.BodyPause > 0 || t.request.Open {
		read, write := io.Pipe()
		request.Body, request.ContentLength = read, -1
		go func() {
			defer write.Close()
			if pause(t.request.BodyPause, stop) {
				_, _ = write.Write(body)
			}
			if t.request.Open {
				<-stop
			}
		}()
		defer read.Close()
	} else if len(body) > 0 {
		request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	response, err := client.RoundTrip(request)
	if err != nil {
		if stream := (http2lib.StreamError{}); !errors.As(err, &stream) && !t.wire.failed() {
			return err
		}
		t.ended(err, false)
		return nil
	}
	defer response.Body.Close()
	t.answer.Status = response.StatusCode
	if !isGRPC {
		t.readBody(response.Body)
		return nil
	}
	t.readMessages(response)
	return nil
}

// readMessages reads the messages and the status of a gRPC answer. A status may stand in the
// head of an answer without a message.
func (t *routedRequest) readMessages(response *http.Response) {
	var frame [5]byte
	for {
		if _, err := io.ReadFull(response.Body, frame[:]); err == io.EOF {
			break
		} else if err != nil {
			t.ended(err, true)
			return
		}
		if _, err := io.CopyN(io.Discard, response.Body, int64(binary.BigEndian.Uint32(frame[1:]))); err != nil {
			t.ended(err, true)
			return
		}
		t.answer.Messages++
		t.answer.Bytes += len(frame) + int(binary.BigEndian.Uint32(frame[1:]))
	}
	of := response.Trailer
	if of.Get("Grpc-Status") == "" {
		of = response.Header
	}
	code, err := strconv.ParseUint(of.Get("Grpc-Status"), 10, 32)
	if err != nil {
		// An answer without a status is not whole.
		t.ended(io.ErrUnexpectedEOF, true)
		return
	}
	t.answer.GRPC, t.answer.GRPCMessage = codes.Code(code), of.Get("Grpc-Message")
}
