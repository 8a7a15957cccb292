package adversary_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/meshproof/meshproof/internal/adversary"
	"github.com/meshproof/meshproof/policy"
)

// exchange runs a server that reads the request, answers and closes.
func exchange(t *testing.T, r adversary.Request, server func(net.Conn) error) (adversary.Reply, error) {
	t.Helper()
	near, far := net.Pipe()
	defer near.Close()
	served := make(chan error, 1)
	go func() {
		served <- server(far)
		far.Close()
	}()
	reply, err := r.Exchange(t.Context(), near)
	near.Close()
	if err := <-served; err != nil {
		t.Errorf("%s: the server: %v", r.Name, err)
	}
	return reply, err
}

// TestExchangeOverHTTP1 compares the bytes of the request, and reads the first final answer.
func TestExchangeOverHTTP1(t *testing.T) {
	t.Parallel()
	plain := adversary.Request{Method: "get", Path: `/a\..//b#c`, Authority: "b", Headers: []policy.Header{{Name: "X-a", Value: " 1"}, {Name: "X-a", Value: "2"}}}
	for _, test := range []struct {
		request      adversary.Request
		sent, answer string
		want         adversary.Reply
	}{
		{plain, "get /a\\..//b#c HTTP/1.1\r\nhost: b\r\nX-a:  1\r\nX-a: 2\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 Forbidden\r\ncontent-length: 19\r\n\r\n", adversary.Reply{Status: 403}},
		{adversary.Request{Head: "GET\x00\n\n"}, "GET\x00\n\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n", adversary.Reply{Status: 101}},
		{adversary.Request{Head: "x"}, "x", "", adversary.Reply{Ended: "closed"}},
		{adversary.Request{Head: "x"}, "x", "HTTP/1.1 200 OK\r\nx: 1\r\n", adversary.Reply{Ended: "closed"}},
	} {
		got, err := exchange(t, test.request, func(conn net.Conn) error {
			sent := make([]byte, len(test.sent))
			if _, err := io.ReadFull(conn, sent); err != nil {
				return err
			}
			if diff := cmp.Diff(test.sent, string(sent)); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			_, err := io.WriteString(conn, test.answer)
			return err
		})
		if got != test.want || err != nil {
			t.Errorf("%q was answered %+v, %v; want %+v", test.sent, got, err, test.want)
		}
	}
}

// TestExchangeOverHTTP2 compares the fields and their order, and ends the stream in each
// way that a server has.
func TestExchangeOverHTTP2(t *testing.T) {
	t.Parallel()
	fields := []policy.Header{{Name: ":path", Value: ""}, {Name: "X-A", Value: "1\r\n"}, {Name: ":path", Value: "/b"}, {Name: "", Value: "\x00"}}
	plain := adversary.Request{Protocol: policy.HTTP2, Method: "GET", Path: "//a", Authority: "b", Headers: []policy.Header{{Name: "x-a", Value: "1"}}}
	for _, test := range []struct {
		request adversary.Request
		fields  []policy.Header
		answer  func(*http2.Framer) error
		want    adversary.Reply
	}{
		{adversary.Request{Protocol: policy.HTTP2, Fields: fields}, fields, func(f *http2.Framer) error { return f.WriteRSTStream(1, http2.ErrCodeProtocol) }, adversary.Reply{Ended: "RST_STREAM PROTOCOL_ERROR"}},
		{plain, []policy.Header{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: "b"}, {Name: ":path", Value: "//a"}, {Name: "x-a", Value: "1"}},
			func(f *http2.Framer) error {
				return errors.Join(f.WriteSettings(), f.WriteGoAway(1, http2.ErrCodeNo, nil), status(f, "103"), status(f, "204"))
			}, adversary.Reply{Status: 204}},
		{plain, nil, func(f *http2.Framer) error { return f.WriteGoAway(0, http2.ErrCodeProtocol, nil) }, adversary.Reply{Ended: "GOAWAY PROTOCOL_ERROR"}},
		{plain, nil, func(f *http2.Framer) error { return nil }, adversary.Reply{Ended: "closed"}},
	} {
		got, err := exchange(t, test.request, func(conn net.Conn) error {
			preface := make([]byte, len(http2.ClientPreface))
			if _, err := io.ReadFull(conn, preface); err != nil || string(preface) != http2.ClientPreface {
				t.Errorf("the preface is %q, %v", preface, err)
			}
			framer := http2.NewFramer(conn, conn)
			for {
				frame, err := framer.ReadFrame()
				if err != nil {
					return err
				}
				headers, ok := frame.(*http2.HeadersFrame)
				if !ok {
					continue
				}
				var sent []policy.Header
				decoder := hpack.NewDecoder(4<<10, func(f hpack.HeaderField) { sent = append(sent, policy.Header{Name: f.Name, Value: f.Value}) })
				if _, err := decoder.Write(headers.HeaderBlockFragment()); err != nil {
					return err
				}
				if diff := cmp.Diff(test.fields, sent); test.fields != nil && diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
				return test.answer(framer)
			}
		})
		if got != test.want || err != nil {
			t.Errorf("answered %+v, %v; want %+v", got, err, test.want)
		}
	}
}

func status(f *http2.Framer, code string) error {
	var block bytes.Buffer
	if err := hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: code}); err != nil {
		return err
	}
	return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: code != "103"})
}

// TestExchangeFails has an answer that is no HTTP, and no answer before the context ends.
func TestExchangeFails(t *testing.T) {
	t.Parallel()
	nonsense := adversary.Request{Name: "nonsense", Head: "x"}
	_, err := exchange(t, nonsense, func(conn net.Conn) error {
		_, err := bufio.NewReader(conn).ReadByte()
		_, failed := io.WriteString(conn, "220 smtp\r\n")
		return errors.Join(err, failed)
	})
	if err == nil || !strings.HasPrefix(err.Error(), "adversary: send nonsense: ") {
		t.Errorf("error %v", err)
	}
	near, far := net.Pipe()
	defer far.Close()
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if _, err := nonsense.Exchange(ctx, near); !errors.Is(err, enough) {
		t.Errorf("error %v does not wrap %q", err, enough)
	}
}
