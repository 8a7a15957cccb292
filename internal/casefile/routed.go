package casefile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/routing"
	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
)

// RoutedRequest is a request that a workload sends through its sidecar to a service. Where the file
// has lists, it is one of their combinations.
type RoutedRequest struct {
	// Place is "file:line: field" of the item in the file.
	Place string
	// From is the name of a workload. To names a port of a service, as
	// [routing.Proxy.Find] reads it.
	From, To string
	// Method, Path, Authority and GRPC are those of the request.
	Method, Path, Authority string
	Headers                 []policy.Header
	GRPC                    string
	Sends                   Sending
	// Answer is what the application does with the request.
	Answer script.Answer
	// Want, Route, Backends, By, Cause and Within are what the case states. Route and Backends
	// are nil, and Cause and By too, where it states none. The route is empty for none.
	Want     End
	Route    *string
	Backends []string
	By       *string
	Cause    *routing.Cause
	// Within is the time after which the request must have ended; 0 for the lab's own bound.
	Within time.Duration
}

// Sending is how a workload sends a request. The zero value sends it at once.
type Sending struct {
	// Head is a pause in the middle of the head of the request, and Body a pause between the head
	// and the body.
	Head, Body time.Duration
	// Open leaves the request side of a gRPC call open.
	Open bool
	// Keep is the time that the connection is kept after the answer.
	Keep time.Duration
}

// End is how a request through a sidecar ends for its caller: the text of the file.
type End string

// The ends that are no status.
const (
	// Allow is a whole answer of the application.
	Allow End = "allow"
	// Cut is an answer that ends early, after its head or after some bytes.
	Cut End = "cut"
	// Close and Reset are a connection or stream that ends without a byte of an answer.
	Close End = "close"
	Reset End = "reset"
)

var (
	ends     = []End{Allow, Cut, Close, Reset}
	statuses = []int{200, 403, 404, 408, 500, 503, 504}
)

// EndOf reads an end: a word, an HTTP status, or the name of a gRPC status such as UNAVAILABLE.
func EndOf(text string) (End, error) {
	if slices.Contains(ends, End(text)) {
		return End(text), nil
	}
	if code, err := strconv.Atoi(text); err == nil && slices.Contains(statuses, code) {
		return End(text), nil
	}
	if _, ok := End(text).GRPC(); ok {
		return End(text), nil
	}
	return "", fmt.Errorf("%q is no end of a request through a sidecar: use one of allow, cut, close, reset, %s, or the name of a gRPC status such as UNAVAILABLE",
		text, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(statuses)), ", "), "[]"))
}

// Status returns the HTTP status of the end, and whether it is one.
func (e End) Status() (int, bool) {
	code, err := strconv.Atoi(string(e))
	return code, err == nil
}

// GRPC returns the gRPC status of the end, and whether it is one.
func (e End) GRPC() (codes.Code, bool) {
	if e == "" || strings.ToUpper(string(e)) != string(e) || e[0] >= '0' && e[0] <= '9' {
		return 0, false
	}
	var code codes.Code
	err := code.UnmarshalJSON([]byte(strconv.Quote(string(e))))
	return code, err == nil
}

// IsService reports whether "to" of a request names a port of a service, and no inbound: a kind such
// as MeshService in front of the name, or an identifier.
func IsService(to string) bool {
	kind, name, ok := strings.Cut(to, "/")
	if !ok {
		return strings.HasPrefix(to, "kri_")
	}
	return strings.HasPrefix(kind, "Mesh") && strings.HasSuffix(kind, "Service") && strings.Contains(name, ":")
}
