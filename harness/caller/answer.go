package caller

import (
	"fmt"

	"google.golang.org/grpc/codes"
)

// Outcome is the way a call ended, as the caller sees it.
type Outcome uint8

const (
	// Fault is a failure of the transport. It says nothing about a policy.
	Fault Outcome = iota
	// Answered is an HTTP response, a gRPC status, or an echo over TCP.
	Answered
	// Closed is a connection that the other side closed after the handshake, without
	// a byte of application data.
	Closed
	// Alert is a TLS alert from the other side: the handshake failed there. Under
	// TLS 1.3 the caller learns this only on its first read.
	Alert
)

var outcomeNames = [...]string{Fault: "transport fault", Answered: "answered", Closed: "closed without an answer", Alert: "TLS alert"}

// String names the outcome in a few words.
func (o Outcome) String() string { return outcomeNames[o] }

// BodyMax is the length of the part of a response body that [Answer] keeps, in bytes.
const BodyMax = 4 << 10

// Answer is the result of a call, as the caller sees it.
type Answer struct {
	Outcome Outcome
	// Status is the HTTP status, and 0 on TCP. A gRPC call that ends with a gRPC
	// status has 200.
	Status int
	// GRPC is the status code of a gRPC call.
	GRPC codes.Code
	// Body is the body of an HTTP response (its first [BodyMax] bytes), the message of a gRPC
	// status, or the echo over TCP.
	Body string
	// Err is the error of the transport when the call was not answered.
	Err error
}

// String returns the answer on one line.
func (a Answer) String() string {
	switch {
	case a.Outcome != Answered && a.Err != nil:
		return fmt.Sprintf("%s (%v)", a.Outcome, a.Err)
	case a.Outcome != Answered:
		return a.Outcome.String()
	case a.Status == 0:
		return fmt.Sprintf("%d bytes", len(a.Body))
	case a.GRPC != codes.OK:
		return fmt.Sprintf("gRPC %s", a.GRPC)
	default:
		return fmt.Sprintf("HTTP %d", a.Status)
	}
}
