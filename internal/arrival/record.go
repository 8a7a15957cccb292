// Package arrival is what an upstream recorded of the requests that reached it.
//
// It guarantees that those who read a record link no server: package upstream writes records.
package arrival

import (
	"net/http"
	"time"
)

// Record is what an upstream recorded of the requests of one caller.
type Record struct {
	// Method, Path, Authority and Header describe an HTTP request. Path is the request
	// target with its query, as Envoy forwarded it.
	Method, Path, Authority string
	Header                  http.Header
	// Bytes is the length of the body, or the number of bytes of a TCP connection.
	Bytes int
	// Timing is what the upstream's clock saw; nil where it answered without a script.
	Timing *Timing
	// Requests counts the requests under the caller's address. More than one means
	// that something went wrong.
	Requests int
}

// XFCC returns the header with the caller's identity, as Envoy forwards it.
func (r *Record) XFCC() string { return r.Header.Get("x-forwarded-client-cert") }

// Timing is what the upstream's own clock saw of an answer by script.
type Timing struct {
	// Began is when the clock of the script began.
	Began time.Time
	// Sent are the times at which the headers and the parts of the body were sent, since the
	// clock of the script began.
	Sent []time.Duration
	// Delay is how far the upstream was behind its script at the worst. A late upstream proves
	// nothing about a time limit that cut it.
	Delay time.Duration
	// Cut is when the other side ended an answer that was not complete; 0 where it did not.
	Cut time.Duration
}
