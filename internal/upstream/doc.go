// Package upstream is the application behind every inbound: it echoes HTTP, gRPC
// and TCP, and keeps what arrived from the callers it was told to watch.
//
// It guarantees that an arrival is recorded before its answer is sent, so that
// whoever has seen the answer can take the record. Arrivals of callers that
// nobody watches are dropped: the ports may be reachable by others than Envoy.
package upstream
