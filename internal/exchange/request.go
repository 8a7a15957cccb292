package exchange

import (
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshproof/meshproof/internal/script"
	"github.com/meshproof/meshproof/policy"
)

// Request is one request of a workload through its sidecar. It has a connection of its own,
// in plaintext: HTTP/1.1 to an http outbound, HTTP/2 to http2, gRPC to grpc, bytes to tcp.
type Request struct {
	// From is the name of a sidecar, and To the name of one of its outbounds.
	From, To string
	// Method, Path, Authority, Headers, GRPC and Body are as [caller.Call] has them. An empty
	// authority stands for the name of the outbound.
	Method, Path, Authority string
	Headers                 []policy.Header
	GRPC                    string
	Body                    string
	// HeadPause is a pause in the middle of the head of an HTTP/1.1 request, and BodyPause a pause
	// between the head and the body.
	HeadPause, BodyPause time.Duration
	// Open leaves the request side of a gRPC call open until the answer has ended.
	Open bool
	// Patience is the longest time that the caller waits for an answer; 0 for the time that
	// the lab waits for anything.
	Patience time.Duration
	// Keep is the longest time that the caller keeps its connection after a whole answer. It
	// ends early when a sidecar closes a connection: the caller's, or that to the inbound.
	Keep time.Duration
	// Answer is what the application does with the request, where one is reached. The harness
	// gives it to the account of the caller's address: see [upstream.Account.Play].
	Answer script.Answer
	// Alone sends the request while no other request of the batch is on the way through the
	// same sidecar, so that each counter that moves is its own.
	Alone bool
}

// End is how an answer ended.
type End uint8

const (
	// Complete is an answer to its last byte.
	Complete End = iota
	// Cut is an answer that ended after its head.
	Cut
	// Closed is a connection that ended without a byte of an answer.
	Closed
	// Reset is a connection or a stream that was reset without a byte of an answer.
	Reset
	// GaveUp means that the caller's patience ended before the answer did.
	GaveUp
)

var ends = [...]string{Complete: "whole", Cut: "cut", Closed: "close", Reset: "reset", GaveUp: "no end"}

// String returns the word that stands in case files, where one does.
func (e End) String() string { return ends[e] }

// Answer is what the caller got.
type Answer struct {
	End End
	// Status is the HTTP status; 0 on tcp, or without a head.
	Status int
	// GRPC is the status code of a gRPC call, and GRPCMessage its message.
	GRPC        codes.Code
	GRPCMessage string
	// Body is the body of the answer (its first [caller.BodyMax] bytes) or the bytes over tcp;
	// Bytes is its whole length.
	Body  string
	Bytes int
	// Messages counts the messages of a gRPC answer.
	Messages int
	// Took is the time from the first byte sent to the end of the answer.
	Took time.Duration
	// Kept is how long the connection stayed after a whole answer, and Ended tells that a
	// sidecar closed it then.
	Kept  time.Duration
	Ended bool
}

// String returns the answer in a few words.
func (a Answer) String() string {
	switch {
	case a.Status == 0:
		return fmt.Sprintf("%s after %d bytes", a.End, a.Bytes)
	case a.GRPC != codes.OK:
		return fmt.Sprintf("gRPC %s (%s), %s", a.GRPC, a.GRPCMessage, a.End)
	default:
		return fmt.Sprintf("HTTP %d with %d bytes, %s", a.Status, a.Bytes, a.End)
	}
}
