package caller

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// BodyMax bounds how much of a response is kept, in bytes.
const BodyMax = 4 << 10

// http1 writes requests itself: net/http would tidy up the very things that a test of
// path normalization is about.
type http1 struct {
	conn   *conn
	reader *bufio.Reader
	buffer []byte
}

func newHTTP1(conn *conn) speech { return &http1{conn: conn, reader: bufio.NewReader(conn)} }

func (h *http1) ask(_ context.Context, c Call) (Answer, bool) {
	h.buffer = appendHTTP1(h.buffer[:0], c)
	h.conn.say(h.buffer)
	response, err := http.ReadResponse(h.reader, &http.Request{Method: c.Verb()})
	if err != nil {
		return h.conn.end(err), false
	}
	// A long request may still be under way, and the buffer with it.
	more := !response.Close && len(h.buffer) <= sayMax
	return answered(response, h.conn), more
}

func (*http1) close() {}

func appendHTTP1(b []byte, c Call) []byte {
	b = append(append(append(b, c.Verb()...), ' '), c.Target()...)
	b = append(append(b, " HTTP/1.1\r\nhost: "...), c.Host()...)
	for _, h := range c.Headers {
		b = append(append(append(append(b, "\r\n"...), h.Name...), ": "...), h.Value...)
	}
	if c.Body != "" {
		b = strconv.AppendInt(append(b, "\r\ncontent-length: "...), int64(len(c.Body)), 10)
	}
	return append(append(b, "\r\n\r\n"...), c.Body...)
}

// http2 sends with net/http.
type http2 struct {
	conn   *conn
	client *http.ClientConn
}

func newHTTP2(ctx context.Context, c Call, conn *conn) (speech, error) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		DisableCompression: true,
		// TLS, if any, is the connection's own already.
		Protocols:   &protocols,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}
	client, err := transport.NewClientConn(ctx, "http", c.Destination.String())
	if err != nil {
		return nil, err
	}
	return http2{conn, client}, nil
}

func (h http2) ask(ctx context.Context, c Call) (Answer, bool) {
	request, err := c.request(ctx)
	if err != nil {
		return Answer{Err: err}, true
	}
	response, err := h.client.RoundTrip(request)
	if err != nil {
		return h.conn.end(err), false
	}
	return answered(response, h.conn), h.client.Err() == nil
}

func (h http2) close() { _ = h.client.Close() }

// answered reads a response to its end, for another may follow.
func answered(response *http.Response, conn *conn) Answer {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, BodyMax))
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
	}
	if err != nil {
		return conn.end(err)
	}
	return Answer{Outcome: Answered, Status: response.StatusCode, Body: string(body)}
}

// request builds what net/http sends unchanged: an HTTP/2 library writes the
// pseudo headers, so that the target has to pass through a URL.
func (c Call) request(ctx context.Context) (*http.Request, error) {
	target, err := verbatim(c.Target())
	if err != nil {
		return nil, err
	}
	target.Scheme, target.Host = "https", c.Host()
	if c.Plaintext {
		target.Scheme = "http"
	}
	// An empty value keeps net/http from adding a User-Agent of its own.
	header := http.Header{"User-Agent": {""}}
	for _, h := range c.Headers {
		header.Add(h.Name, h.Value)
	}
	request := (&http.Request{Method: c.Verb(), URL: target, Host: c.Host(), Header: header}).WithContext(ctx)
	if c.Body != "" {
		request.Body = io.NopCloser(strings.NewReader(c.Body))
		request.ContentLength = int64(len(c.Body))
	}
	return request, nil
}

var errNotVerbatim = errors.New("the target cannot be sent as it is over HTTP/2; use an http inbound for it")

func verbatim(target string) (*url.URL, error) {
	path, query, hasQuery := strings.Cut(target, "?")
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	u := &url.URL{Path: plain, RawPath: path, RawQuery: query, ForceQuery: hasQuery && query == ""}
	if u.RequestURI() != target {
		return nil, fmt.Errorf("%q: %w", target, errNotVerbatim)
	}
	return u, nil
}
