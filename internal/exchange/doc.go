// Package exchange reads what two proxies and the upstream recorded of one routed request: the
// sidecar of the workload that sends it, and the inbound that takes it.
//
// It guarantees that a route, a backend and a cause are found only where all sides say the same: the answer that
// the caller got, the entries in the access logs of the outbound and of the inbound, the
// request that the upstream saw, and the counters that moved. The cause is read from fields,
// never from a duration. Where the sides disagree, the error says which of them.
//
// It does not know what a case wants. What authorization alone leaves behind is in package
// harness/evidence.
package exchange
