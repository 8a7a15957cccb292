// Package routing holds the routing program of a caller's sidecar: to which backend each
// request to a destination goes, and how much time its parts may take.
//
// It is to routes and timeouts what package policy is to authorization: every dialect of
// routes is lowered to this one form, and the outbound configuration of Envoy is compiled
// from it. [Outbound.Decide] is the oracle.
//
// The package guarantees that Decide is total: every outbound decides every request, without
// error and without side effect. It knows no schema of a dialect, no message of Envoy and no
// clock: what a time limit does to an answer that comes late is not decided here.
package routing
