package verdict

import (
	"cmp"
	"strings"

	"github.com/meshproof/meshproof/cases"
	"github.com/meshproof/meshproof/internal/destination"
	"github.com/meshproof/meshproof/internal/endpoint"
	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/servername"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// See returns a request to an inbound as the policies see it. On L4 that is the caller with its
// address, the port, and the server name of the handshake. On L7 the listener has
// verified the token and normalized the path; the error says why it answers
// 400 instead, and the request then has no path.
func See(in cases.Inbound, n policy.PathNormalization, tokens token.Demand, q cases.Request) (policy.Request, error) {
	seen := placed(policy.Request{URIs: q.From.Template.URIs, DNS: q.From.Template.DNS, Source: q.SourceIP}, in)
	if !q.From.Plaintext {
		seen.SNI = servername.Kept(q.SNI)
	}
	if in.Protocol.Layer() == policy.L4 {
		return seen, nil
	}
	tokens = tokens.ForRequest(q.Method, q.Headers)
	seen.Others = tokens.Seen(q.Token)
	var err error
	path, headers := tokens.Leaves(q.Token, q.Path, q.Headers)
	seen.Host = cmp.Or(q.Authority, in.Address().String())
	seen.Headers = requestline.Seen(headers, in.Protocol, q.GRPC != "")
	seen.Remote, _ = forwarded.Address(in.TrustedHops, seen.Headers)
	seen.Method, path = requestline.MethodAndTarget(q.Method, path, q.GRPC)
	seen.Path, err = n.Apply(path)
	return seen, err
}

// Seen returns a request to the inbound as its policies see it, see [See].
func (in Inbound) Seen(q cases.Request) (policy.Request, error) {
	return See(in.Inbound, in.normalization(), in.Program.Tokens, q)
}

// placed gives a request the port and the address of the inbound, and the address of a caller
// without one.
func placed(r policy.Request, in cases.Inbound) policy.Request {
	if r.Port = in.Port; !r.Source.IsValid() {
		r.Source = endpoint.Unnamed
	}
	r.Destination = destination.Reached(in.IP, r.Source)
	return r
}

// Placed returns a request as it comes to the inbound: with its port and its address, and with the address of a caller
// without one. Policies may ask for them that the request was not made of.
func (in Inbound) Placed(r policy.Request) policy.Request { return placed(r, in.Inbound) }

// Detour returns another path that the listener normalizes to a given path: the path behind
// a dot segment. It reports whether the listener takes the segment out again. If Envoy does
// not, the detour is a way around policies.
func Detour(n policy.PathNormalization, path string) (detour string, ok bool) {
	detour = "/." + path
	normal, err := n.Apply(detour)
	return detour, err == nil && normal == path
}

// OtherCase returns a server name in another case, which Envoy takes for the same name. It
// reports whether there is one.
func OtherCase(name string) (other string, ok bool) {
	other = strings.ToUpper(name)
	return other, other != name && servername.Kept(other) == name
}
