// Package classes cuts the requests to an inbound into finitely many classes, so that
// a statement about each class is a statement about every request.
//
// It guarantees that each program decides all requests of a class alike: [policy.Decide]
// gives the same decision, origin and shadow. Each class has a
// witness: a request that a caller can send. Where a cover has examples only, it says
// so: see [Cover.Sampled].
//
// One file for each attribute says which values can be sent, and which values are close
// to the border of a match. The package asks no Envoy and knows no dialect.
package classes
