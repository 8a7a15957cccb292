// Package evidence decides what the traces of a request prove.
//
// It guarantees that a decision is found only where all sides tell the same
// story: the answer that the caller saw, the request that the upstream saw, the
// entry in Envoy's access log, and, for a batch of requests, the counters of
// Envoy's admin interface. A deny is never inferred from silence. Where the sides
// disagree the finding is an error that says which.
//
// It knows neither policies nor what anybody wanted.
package evidence
