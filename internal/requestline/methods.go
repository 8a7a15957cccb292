package requestline

import (
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

// CheckMethod returns why Envoy answers 400 to a method over a protocol before any policy is asked, nil where it
// does not. A request without a method is a GET, or a call of gRPC.
func CheckMethod(method string, over policy.Protocol) error {
	if method == "" || over != policy.HTTP || slices.Contains(Methods, method) {
		return nil
	}
	return fmt.Errorf("HTTP/1.1 answers 400 to the method %q", method)
}
