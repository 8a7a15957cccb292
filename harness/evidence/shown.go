package evidence

import (
	"strings"

	"github.com/meshproof/meshproof/internal/forwarded"
	"github.com/meshproof/meshproof/internal/requestline"
	"github.com/meshproof/meshproof/internal/token"
	"github.com/meshproof/meshproof/policy"
)

// checkShown compares the attributes in the entry of a request with the request that was sent:
// the remote address behind x-forwarded-for, the authority, and the headers that the inbound
// shows. Where the codec refuses a request, the entry shows none.
func (e Evidence) checkShown(sides *checklist) {
	if !e.Log.Request || e.Log.Path == "" || e.Call.Protocol.Layer() == policy.L4 {
		return
	}
	lines := requestline.Seen(e.Call.Headers, e.Call.Protocol, e.Call.GRPC != "")
	if e.TrustedHops > 0 {
		remote, ok := forwarded.Address(e.TrustedHops, lines)
		if !ok {
			remote = e.Call.Source.Addr()
		}
		sides.want(e.Log.Remote == remote, "the access log has the remote address %s, and x-forwarded-for says %s", e.Log.Remote, remote)
	}
	for _, name := range e.Headers {
		switch {
		case name == "host":
			sent := e.Call.WithDefaults().Authority
			sides.want(e.Log.Host == sent, "the access log has the authority %q, the caller sent %q", e.Log.Host, sent)
		case ownedByEnvoy(name) || e.Tokens.Looks(token.InHeader, name):
			// Envoy may change it before it writes the entry.
		default:
			sent, has := joined(lines, name)
			shown, ok := e.Log.Headers[name]
			if name == referer && has && !ok {
				sides.want(false, "Envoy took the header %s %q away, as it does with one that is no URL, or has a fragment or user information: meshproof does not know which, so that no rule about this header is proven", name, sent)
				continue
			}
			sides.want(ok == has && shown == requestline.Logged(sent), "the access log has %q in the header %s (present: %t), the caller sent %q (present: %t)", shown, name, ok, sent, has)
		}
	}
}

// referer is a header that the connection manager takes away where it finds no URL in it, before any filter
// sees the request. Which texts it takes for a URL differs from the standards.
const referer = "referer"

// joined returns the lines of a header as the access log joins them.
func joined(lines []policy.Header, name string) (string, bool) {
	if requestline.IsOneLine(name) {
		return forwarded.Joined(lines, name)
	}
	var values []string
	for _, line := range lines {
		if line.Name == name {
			values = append(values, line.Value)
		}
	}
	return strings.Join(values, ","), len(values) > 0
}
