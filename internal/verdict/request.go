package verdict

import (
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// Request returns a request to the inbound that the policies see as r, and wants of it
// what the policies decide, from a caller whose CA is trusted. A caller without a name
// comes in plaintext where the inbound takes it, and without a certificate elsewhere. The
// latter wants the handshake to fail. So does a caller over TLS where there is plaintext only.
func (in Inbound) Request(r policy.Request) cases.Request {
	if Nameless(r) && in.MTLS.TakesPlaintext() {
		// Without a handshake there is no server name, and the policies judge it so.
		r.SNI = ""
	}
	q := cases.Request{
		To: in.String(), Token: in.token(r), SNI: r.SNI, SourceIP: r.Source, Method: r.Method, Path: r.Path, Authority: r.Host, Headers: r.Headers,
		From: Caller(r, in.reading.Case.TrustDomains[0]), Want: wantOf(in.Decide(r)),
	}
	switch {
	case !Nameless(r):
		if !in.MTLS.TakesTLS() {
			q.Want = cases.HandshakeFailure
		}
	case !in.MTLS.TakesPlaintext():
		q.From, q.Want = cases.Caller{Name: "anonymous", Anonymous: true}, cases.HandshakeFailure
	default:
		q.From = Plaintext
		if in.passesUnjudged(q.From) {
			q.Want = cases.Allow
		}
	}
	return q
}

// token returns a token with the claims of a request, and with what the inbound demands of
// tokens beside.
func (in Inbound) token(r policy.Request) *token.Token {
	if in.Protocol.Layer() == policy.L4 {
		return nil
	}
	return in.Program.Tokens.Complete(token.FromClaims(r.Others))
}

// Plaintext is the caller that uses no TLS.
var Plaintext = cases.Caller{Name: "plaintext", Plaintext: true}

// Nameless reports whether the caller of a request has no name, like a caller in plaintext.
func Nameless(r policy.Request) bool { return len(r.URIs)+len(r.DNS) == 0 }

// Caller returns a caller with a certificate of the request's names. The trust domain
// of the first name signs it. If that name is no SPIFFE ID, the mesh's own trust domain does.
func Caller(r policy.Request, own spiffeid.TrustDomain) cases.Caller {
	c := cases.Caller{Name: CallerName(r), Template: certs.Template{URIs: r.URIs, DNS: r.DNS}, SignedBy: own}
	if len(r.URIs) > 0 {
		if id, err := spiffeid.FromString(r.URIs[0]); err == nil {
			c.SignedBy = id.TrustDomain()
		}
	}
	return c
}

// CallerName joins the names of a request's caller. A caller without a name is
// "anonymous".
func CallerName(r policy.Request) string {
	names := slices.Clone(r.URIs)
	for _, name := range r.DNS {
		names = append(names, "DNS "+name)
	}
	if len(names) == 0 {
		return "anonymous"
	}
	return strings.Join(names, " + ")
}

// AskedBy returns a request as another request's caller makes it.
func AskedBy(r, by policy.Request) policy.Request {
	r.URIs, r.DNS = by.URIs, by.DNS
	return r
}
