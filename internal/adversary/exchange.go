package adversary

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/meshproof/meshproof/policy"
)

// Reply is the answer to a request, or the end of its connection.
type Reply struct {
	// Status is the status of an HTTP response, and 0 without a response.
	Status int
	// Ended names the end without a response: "closed", or the HTTP/2 frame and its code,
	// as in "RST_STREAM PROTOCOL_ERROR".
	Ended string
}

// String returns the status, or the end of the connection.
func (r Reply) String() string {
	if r.Status == 0 {
		return r.Ended
	}
	return fmt.Sprint(r.Status)
}

// Exchange sends the request unchanged over a new connection, after any TLS handshake. It
// reads the reply up to the head of the final response. The caller must close the
// connection. When the context ends first, Exchange closes the connection and returns the
// context's cause. A refusal is no error. An error says that the transport failed, or that
// the answer is not HTTP.
func (r Request) Exchange(ctx context.Context, conn net.Conn) (Reply, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	text, read := r.http1Text(), readHTTP1
	if r.Protocol == policy.HTTP2 {
		text, read = r.http2Frames(), readHTTP2
	}
	// A failed write means that the other side has closed. The reason can still be read.
	_, _ = conn.Write(text)
	reply, err := read(conn)
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return Reply{}, fmt.Errorf("adversary: send %s: %w", r.Name, context.Cause(ctx))
	case isClosed(err):
		return Reply{Ended: "closed"}, nil
	default:
		return Reply{}, fmt.Errorf("adversary: send %s: %w", r.Name, err)
	}
}

// isClosed reports whether the other side closed the connection.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// http1Text returns the text of a request over HTTP/1.1.
func (r Request) http1Text() []byte {
	if r.Head != "" {
		return []byte(r.Head)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nhost: %s\r\n", r.Method, r.Path, r.Authority)
	for _, h := range r.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

func readHTTP1(conn io.Reader) (Reply, error) {
	reader := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return Reply{}, err
		}
		// The body stays unread, because the status says enough.
		if response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return Reply{Status: response.StatusCode}, nil
		}
	}
}

// streamID is the first stream that a client may open.
const streamID = 1

// http2Frames returns the frames of a request over HTTP/2: the preface, settings, and the
// header block, which ends the stream. The encoder and the framer do not check the fields,
// and writing into memory does not fail.
func (r Request) http2Frames() []byte {
	var fields, out bytes.Buffer
	encoder := hpack.NewEncoder(&fields)
	for _, f := range r.headerBlock() {
		_ = encoder.WriteField(hpack.HeaderField{Name: f.Name, Value: f.Value})
	}
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: streamID, BlockFragment: fields.Bytes(), EndStream: true, EndHeaders: true})
	return out.Bytes()
}

// readHTTP2 sends no acknowledgements, because one request needs none.
func readHTTP2(conn io.Reader) (Reply, error) {
	framer := http2.NewFramer(io.Discard, conn)
	framer.ReadMetaHeaders = hpack.NewDecoder(4<<10, nil)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return Reply{}, err
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			status, err := strconv.Atoi(frame.PseudoValue("status"))
			if err != nil {
				return Reply{}, fmt.Errorf("a response without a status: %w", err)
			}
			if status >= 200 {
				return Reply{Status: status}, nil
			}
		case *http2.RSTStreamFrame:
			return Reply{Ended: "RST_STREAM " + frame.ErrCode.String()}, nil
		case *http2.GoAwayFrame:
			if frame.ErrCode != http2.ErrCodeNo || frame.LastStreamID < streamID {
				return Reply{Ended: "GOAWAY " + frame.ErrCode.String()}, nil
			}
		}
	}
}
