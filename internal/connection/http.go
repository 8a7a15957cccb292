package connection

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

	"github.com/meshproof/meshproof/harness/caller"
)

// http1 writes requests itself, because net/http would normalize paths. Tests of path
// normalization need them unchanged.
type http1 struct {
	wire   *wire
	reader *bufio.Reader
	buffer []byte
}

func newHTTP1(w *wire) protocol { return &http1{wire: w, reader: bufio.NewReader(w)} }

func (h *http1) send(_ context.Context, c caller.Call) (caller.Answer, bool) {
	h.buffer = appendHTTP1(h.buffer[:0], c)
	h.wire.send(h.buffer)
	response, err := http.ReadResponse(h.reader, &http.Request{Method: c.Method})
	if err != nil {
		return h.wire.unanswered(err), false
	}
	// A long request may still be written in the background, from the buffer.
	more := !response.Close && len(h.buffer) <= sendMax
	return readAnswer(response, h.wire), more
}

func (*http1) close() {}

func appendHTTP1(b []byte, c caller.Call) []byte {
	b = append(append(append(b, c.Method...), ' '), c.Path...)
	b = append(append(b, " HTTP/1.1\r\nhost: "...), c.Authority...)
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
	wire   *wire
	client *http.ClientConn
}

func newHTTP2(ctx context.Context, c caller.Call, w *wire) (protocol, error) {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{
		DisableCompression: true,
		// The wire already runs TLS, if the call wants any.
		Protocols:   &protocols,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return w, nil },
	}
	client, err := transport.NewClientConn(ctx, "http", c.Destination.String())
	if err != nil {
		return nil, err
	}
	return http2{w, client}, nil
}

func (h http2) send(ctx context.Context, c caller.Call) (caller.Answer, bool) {
	request, err := newRequest(ctx, c)
	if err != nil {
		return caller.Answer{Err: err}, true
	}
	response, err := h.client.RoundTrip(request)
	if err != nil {
		return h.wire.unanswered(err), false
	}
	return readAnswer(response, h.wire), h.client.Err() == nil
}

func (h http2) close() { _ = h.client.Close() }

// readAnswer reads a response to its end, because another may follow.
func readAnswer(response *http.Response, w *wire) caller.Answer {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, caller.BodyMax))
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
	}
	if err != nil {
		return w.unanswered(err)
	}
	return caller.Answer{Outcome: caller.Answered, Status: response.StatusCode, Body: string(body)}
}

// newRequest builds a request that net/http sends unchanged. The HTTP/2 library writes the
// pseudo headers itself, so the target has to pass through a URL.
func newRequest(ctx context.Context, c caller.Call) (*http.Request, error) {
	target, err := parseTarget(c.Path)
	if err != nil {
		return nil, err
	}
	target.Scheme, target.Host = "https", c.Authority
	if c.Plaintext {
		target.Scheme = "http"
	}
	// An empty value keeps net/http from adding a User-Agent of its own.
	header := http.Header{"User-Agent": {""}}
	for _, h := range c.Headers {
		if strings.EqualFold(h.Name, "User-Agent") && header.Get(h.Name) == "" {
			header.Del(h.Name)
		}
		header.Add(h.Name, h.Value)
	}
	request := (&http.Request{Method: c.Method, URL: target, Host: c.Authority, Header: header}).WithContext(ctx)
	if c.Body != "" {
		request.Body = io.NopCloser(strings.NewReader(c.Body))
		request.ContentLength = int64(len(c.Body))
	}
	return request, nil
}

var errNotVerbatim = errors.New("HTTP/2 cannot send this target unchanged; use an http inbound for it")

// parseTarget returns a URL that prints as the target. The error wraps errNotVerbatim.
func parseTarget(target string) (*url.URL, error) {
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
