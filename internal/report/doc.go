// Package report says what a run of cases has shown, for people and for programs.
//
// A [Run] is everything about one version of Envoy under one compiler, down to the
// evidence of each request; it is plain data and is kept as JSON. All else is drawn
// from runs: the conformance report in the shape of Gateway API, JUnit, a summary in
// Markdown, a page in HTML, what differs between runs.
//
// The package guarantees that the same runs give the same bytes, and that a run
// which was changed after it was written is refused: each case carries a hash of its
// evidence. It judges nothing, and a case that it does not understand it does not
// count.
package report
