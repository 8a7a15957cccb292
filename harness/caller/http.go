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
	"strings"
)

// BodyMax bounds how much of a response is kept, in bytes.
const BodyMax = 4 << 10

// sendHTTP1 writes the request itself: net/http would tidy up the very things
// that a test of path normalization is about.
func sendHTTP1(c Call, conn *conn) Answer {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nhost: %s\r\n", c.Verb(), c.Target(), c.Host())
	for _, h := range c.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if c.Body != "" {
		fmt.Fprintf(&b, "content-length: %d\r\n", len(c.Body))
	}
	b.WriteString("\r\n")
	b.WriteString(c.Body)
	conn.say(b.String())
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: c.Verb()})
	if err != nil {
		return conn.end(err)
	}
	return answered(response, conn)
}

func sendHTTP2(ctx context.Context, c Call, conn *conn) Answer {
	request, err := c.request(ctx)
	if err != nil {
		return Answer{Err: err}
	}
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
		return conn.end(err)
	}
	defer client.Close()
	response, err := client.RoundTrip(request)
	if err != nil {
		return conn.end(err)
	}
	return answered(response, conn)
}

func answered(response *http.Response, conn *conn) Answer {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, BodyMax))
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
