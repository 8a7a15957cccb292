package upstream

import (
	"io"
	"net/http"
	"net/netip"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/meshproof/meshproof/internal/arrival"
	"github.com/meshproof/meshproof/internal/controlplane"
)

// newHTTPEcho returns a server that answers a plain request with its own body, and every
// gRPC method with its own messages.
func newHTTPEcho(l *ledger, s secret) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	rpc := grpc.NewServer(grpc.UnknownServiceHandler(echoMessages))
	return &http.Server{
		Protocols:         protocols,
		ReadHeaderTimeout: headerTimeout,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			from, shown, _ := strings.Cut(r.Header.Get(controlplane.CallerHeader), " ")
			if !s.is(shown) {
				http.Error(w, "this request does not come from the Envoy of the run", http.StatusForbidden)
				return
			}
			r.Header.Del(controlplane.CallerHeader)
			body := &countingBody{ReadCloser: r.Body}
			r.Body = body
			record(l, r, from, body)
			isGRPC := strings.HasPrefix(r.Header.Get("content-type"), "application/grpc")
			if body.account.scripted() {
				// Over HTTP/1.1 the server sees the end of the other side once it has read the body.
				body.account.answerHTTP(w, r, body, isGRPC)
				return
			}
			if isGRPC {
				rpc.ServeHTTP(w, r)
				return
			}
			// Over HTTP/1.1 the server would discard the part of the body that it has not
			// read when the answer begins. HTTP/2 needs no such call and returns
			// ErrNotSupported.
			_ = http.NewResponseController(w).EnableFullDuplex()
			_, _ = io.Copy(w, body)
		}),
	}
}

// echoMessages needs no schema, because an Empty keeps unknown fields.
func echoMessages(_ any, stream grpc.ServerStream) error {
	for {
		var message emptypb.Empty
		switch err := stream.RecvMsg(&message); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		if err := stream.SendMsg(&message); err != nil {
			return err
		}
	}
}

func record(l *ledger, r *http.Request, from string, body *countingBody) {
	caller, err := netip.ParseAddrPort(from)
	if err != nil {
		return
	}
	if account := l.account(caller); account != nil {
		body.account = account
		body.arrival = account.addRequest(func(a *arrival.Record) {
			a.Method, a.Path, a.Authority, a.Header = r.Method, r.RequestURI, r.Host, r.Header
		})
	}
}

// countingBody counts the bytes of a body. The body of a stranger has no account.
type countingBody struct {
	io.ReadCloser
	account *Account
	arrival *arrival.Record
}

func (b *countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.account != nil && n > 0 {
		b.account.addBytes(b.arrival, n)
	}
	return n, err
}
