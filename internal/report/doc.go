// Package report holds the results of runs as data, compares them and merges them.
//
// A [Run] is everything about one version of Envoy under one compiler, down to the
// evidence of each request. [Encode] and [Decode] keep it as JSON. Everything else is made
// of runs: [NewConformance] is the conformance report in the shape of Gateway API, and
// [Differences] and [Compare] tell what differs. The rooms below draw runs: page as HTML,
// markdown for a CI job, junit for CI systems. folder writes all of them.
//
// The package guarantees that the same runs give the same bytes, and that it refuses a run
// that was changed after it was written, because each case has a hash of its evidence. It
// judges nothing.
package report
