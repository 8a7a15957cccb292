package requestline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshproof/meshproof/policy"
)

// Methods are the methods that Envoy's HTTP/1.1 codec lets pass, as measured on
// 1.36.4, 1.37.0, 1.38.3, 1.39.3 and 1.40.0. It answers 400 to any other method, to any
// in lower case, and to M-SEARCH, which it knows in the spelling MSEARCH only. HTTP/2
// takes every token. CONNECT is missing, because it has no path and opens a tunnel.
//
// The versions differ in QUERY, and the newest counts: 1.40 lets it pass if it has a
// Content-Type, and answers 400 without one on HTTP/2 too. Before 1.40, HTTP/1.1 knew no
// QUERY, and HTTP/2 asked nothing of it.
var Methods = strings.Fields(`GET POST PUT DELETE PATCH HEAD OPTIONS TRACE ACL BIND CHECKOUT COPY LINK LOCK MERGE MKACTIVITY
	MKCALENDAR MKCOL MOVE MSEARCH NOTIFY PROPFIND PROPPATCH PURGE REBIND REPORT SEARCH SOURCE SUBSCRIBE UNBIND UNLINK UNLOCK
	UNSUBSCRIBE QUERY`)

// Refusal is what Envoy does with a request before any policy is asked, and why. The zero value is for a request that
// comes to the policies.
type Refusal struct {
	// Status is 0 where Envoy ends the stream without an answer, see [Refusal.Unanswered].
	Status int
	Why    error
}

// Unanswered reports whether Envoy ends the stream without an answer. Its access log gives no reason for it.
func (r Refusal) Unanswered() bool { return r.Why != nil && r.Status == 0 }

// Refuse returns what Envoy does with the method and the target of a request over a protocol before any policy is asked,
// as measured on 1.36.4, 1.38.3 and 1.40.0. A request without a method is a GET, or a call of gRPC, and one without a
// target is for "/".
func Refuse(method, target string, over policy.Protocol) Refusal {
	beyond := func(c rune) bool { return c <= ' ' || c >= 0x7f }
	method = cmp.Or(method, "GET")
	switch {
	case over == policy.TCP:
		return Refusal{}
	case over == policy.HTTP && !slices.Contains(Methods, method):
		return Refusal{400, fmt.Errorf("HTTP/1.1 answers 400 to the method %q", method)}
	case over == policy.HTTP && strings.ContainsFunc(target, beyond):
		return Refusal{400, fmt.Errorf("HTTP/1.1 answers 400 to a target with another character than those of ASCII that are printed: %q", target)}
	case target == asterisk && method == "OPTIONS":
		return Refusal{404, errors.New("OPTIONS * is about the server as a whole, and no path: Envoy answers 404")}
	case target == asterisk && over == policy.HTTP:
		return Refusal{400, fmt.Errorf("HTTP/1.1 answers 400 to %s *: OPTIONS alone has this target", method)}
	case target == asterisk:
		return Refusal{0, fmt.Errorf("HTTP/2 ends the stream of %s *: OPTIONS alone has this target", method)}
	default:
		return Refusal{}
	}
}

// asterisk is the target that is the server as a whole.
const asterisk = "*"

// CheckTunnel returns why the policies judge another request than the one that is written, nil where they do not: CONNECT over
// HTTP/2 has no path. No inbound opens a tunnel, so that nobody is served.
func CheckTunnel(method string, over policy.Protocol) error {
	if method != "CONNECT" || over == policy.HTTP || over == policy.TCP {
		return nil
	}
	return errors.New("CONNECT over HTTP/2 has no path and opens a tunnel, which no inbound does: Envoy answers 404, unless a policy denies a request without a path")
}
