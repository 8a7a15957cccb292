package proof

import (
	"slices"
	"strings"

	"github.com/spiffe/go-spiffe/v2/spiffeid"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/certs"
	"github.com/meshproof/meshproof/policy"
)

// request is a request as a case has it. Want is what the oracle says, as far as mTLS
// lets the caller come that far.
func request(in Inbound, r policy.Request, judgesPlaintext bool, own spiffeid.TrustDomain) cases.Request {
	q := cases.Request{
		To: in.String(), Method: r.Method, Path: r.Path,
		From: caller(r, own), Want: wantOf(policy.Decide(in.Program, r)),
	}
	switch {
	case !nameless(r):
	case !in.Permissive:
		q.From, q.Want = cases.Caller{Name: "anonymous", Anonymous: true}, cases.HandshakeFailure
	// A caller without a name comes in plaintext, where that is let in.
	case judgesPlaintext:
		q.From = inPlaintext
	default:
		q.From, q.Want = inPlaintext, cases.Allow
	}
	return q
}

var inPlaintext = cases.Caller{Name: "plaintext", Plaintext: true}

// nameless reports whether the caller has no name, as one in plaintext.
func nameless(r policy.Request) bool { return len(r.URIs)+len(r.DNS) == 0 }

func wantOf(d policy.Decision) cases.Want {
	if d.Effect == policy.Allow {
		return cases.Allow
	}
	return cases.Deny
}

// caller is one with a certificate of these names, signed by the CA of the trust domain
// of the first, or by the mesh's own where that is none.
func caller(r policy.Request, own spiffeid.TrustDomain) cases.Caller {
	c := cases.Caller{Name: callerName(r), Template: certs.Template{URIs: r.URIs, DNS: r.DNS}, SignedBy: own}
	if len(r.URIs) > 0 {
		if id, err := spiffeid.FromString(r.URIs[0]); err == nil {
			c.SignedBy = id.TrustDomain()
		}
	}
	return c
}

// callerName joins the names of a caller.
func callerName(r policy.Request) string {
	names := slices.Clone(r.URIs)
	for _, name := range r.DNS {
		names = append(names, "DNS "+name)
	}
	if len(names) == 0 {
		return "anonymous"
	}
	return strings.Join(names, " + ")
}
